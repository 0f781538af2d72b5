"""Runs measured programs as processes: protocol.hpp describes the protocol that they speak."""

import os
import re
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"
CORES = len(os.sched_getaffinity(0))


def environment(**settings):
    """This process's environment, without what changes OpenBLAS's choice of kernels, and with some settings."""
    result = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return result | settings


class Program:
    """A program that speaks the protocol. It lives from `start` to `stop` and waits while others are measured."""

    def __init__(self, label, command, folder=None, **settings):
        self.label, self.command, self.folder, self.settings = label, [str(part) for part in command], folder, settings
        self.process = None
        self.rates = []  # iterations a second, one for each round
        self.threads_used = []  # likewise, and for each other run

    def start(self):
        """Seconds from the start of the process to its first result."""
        begin = time.perf_counter()
        self.process = subprocess.Popen(self.command, env=environment(**self.settings), cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.answer("ready")
        return time.perf_counter() - begin

    def answer(self, pattern):
        line = self.process.stdout.readline().strip()
        match = re.fullmatch(pattern, line)
        if not match:
            raise RuntimeError(f"{' '.join(self.command)}: {pattern!r} expected, got {line!r}")
        return match

    def run(self, seconds):
        """Iterations a second, for so many seconds."""
        self.process.stdin.write(f"{seconds}\n")
        match = self.answer(r"it/s ([\d.]+) threads (\d+)")
        self.wait_until_idle()
        self.threads_used.append(int(match[2]))
        return float(match[1])

    def wait_until_idle(self):
        """Waits for its threads to sleep: those of OpenBLAS and OpenMP look for work a tenth of a second long."""
        before = self.processor_seconds()
        while True:
            time.sleep(0.05)
            after = self.processor_seconds()
            if after == before:
                return
            before = after

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def values(self):
        """What a peer computes with weights and inputs that all peers have, which it prints if that is its last argument."""
        result = subprocess.run([*self.command, "values"], env=environment(**self.settings), cwd=self.folder,
                                stdout=subprocess.PIPE, text=True, check=True)
        return [float(value) for value in re.search(r"^values (.*)$", result.stdout, re.MULTILINE)[1].split()]

    def peak_megabytes(self):
        # getrusage would count this interpreter too, from which the process was forked
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024

    def stop(self):
        """Also one that has failed, or has not started."""
        if not self.process:
            return
        self.process.stdout.close()
        self.process.stdin.close()
        self.process.wait()
        self.process = None


class MnistYardstick:
    """A program for the tutorial's step that does not speak the protocol: it is called with a folder of MNIST's files, a number
    of threads and a number of epochs, and prints its iterations a second. It gets random images."""

    STEPS = 7500  # an epoch's

    def __init__(self, label, executable, threads):
        self.label, self.executable, self.threads = label, executable, threads
        self.rates = []
        self.folder = None

    def start(self):
        self.folder = tempfile.TemporaryDirectory()
        for name, count in (("train", 60000), ("t10k", 10000)):  # readers of gzip take what is not compressed as it is
            Path(self.folder.name, f"{name}-images-idx3-ubyte.gz").write_bytes(bytes(16) + os.urandom(count * 784))
            labels = bytes(value % 10 for value in os.urandom(count))
            Path(self.folder.name, f"{name}-labels-idx1-ubyte.gz").write_bytes(bytes(8) + labels)
        self.rate = self.call(0.02)

    def run(self, seconds):
        self.rate = self.call(seconds * self.rate / self.STEPS)
        return self.rate

    def call(self, epochs):
        command = [str(self.executable), self.folder.name, str(self.threads), f"{epochs:.4f}"]
        result = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
        return float(re.search(r"([\d.]+) it/s", result.stdout)[1])

    def stop(self):
        if self.folder:
            self.folder.cleanup()

    @staticmethod
    def built(source, folder):
        """The program of a C++ file."""
        executable = Path(folder) / "yardstick"
        compiler = os.environ.get("CXX", "g++")
        options = ["-std=c++20", "-O3", "-march=native", "-ffast-math", "-pthread"]
        subprocess.run([compiler, *options, str(source), "-lz", "-o", str(executable)], check=True)
        return executable


def in_turns(programs, rounds, seconds):
    """Fills the programs' rates. Returns the peak memory of those that stay alive, in megabytes."""
    try:
        for program in programs:
            program.start()
            program.run(seconds)  # not counted: it fills caches, and a number of threads is chosen
        for _ in range(rounds):
            for program in programs:
                program.rates.append(program.run(seconds))
        return {program: program.peak_megabytes() for program in programs if isinstance(program, Program)}
    finally:
        for program in programs:
            program.stop()


def openblas_settings():
    """Environments to try OpenBLAS in. It does not know every processor, and then takes kernels of an old one."""
    flags = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    flags = flags[1].split() if flags else []
    if "avx512bw" in flags:
        return [{}, {"OPENBLAS_CORETYPE": "SkylakeX"}]
    return [{}, {"OPENBLAS_CORETYPE": "Haswell"}] if "avx2" in flags else [{}]


# PyTorch allocates its results anew in every step. This keeps glibc from asking the system for their memory each time.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"}


def pytorch_programs(label, workload, threads):
    """The same in each of some environments; the fastest counts."""
    command = ["/usr/bin/python3", PEERS / "pytorch.py", workload, threads]
    settings = [KEEP_MEMORY | setting for setting in openblas_settings()]
    if threads != "1":  # OpenMP's waiting threads take the cores from OpenBLAS's, unless they sleep
        settings += [{**settings[-1], "OMP_WAIT_POLICY": "passive"}]
    return [Program(label, command, **setting) for setting in settings]


class OtherPytorch:
    """A PyTorch besides Debian's, eager and by torch.compile, which a command runs in the place of `python3`. That may be in
    another root where this repository alone is at the same path: so it is called from there, with relative paths."""

    ROOT = PEERS.parent.parent

    def __init__(self, command):
        self.command = shlex.split(command)
        arguments = [*self.command, "-c", "import torch; print(torch.__version__)"]
        version = subprocess.run(arguments, env=environment(), cwd=self.ROOT, stdout=subprocess.PIPE, text=True, check=True)
        self.label = f"PyTorch {version.stdout.strip().partition('+')[0]}"

    def labels(self):
        return {(): self.label, ("compiled",): f"{self.label}, torch.compile"}

    def programs(self, workload, threads, fusible):
        """In each form that a workload has; the fastest counts. On several threads those forms alone that call the functions of
        PyTorch for as much as they can: see pytorch.py."""
        forms = [()] if not fusible else [("fused",)] if threads != "1" else [(), ("fused",)]
        settings = KEEP_MEMORY if threads == "1" else KEEP_MEMORY | {"OMP_WAIT_POLICY": "passive"}
        script = (PEERS / "pytorch.py").relative_to(self.ROOT)
        return [Program(label, [*self.command, script, workload, threads, *form, *way], self.ROOT, **settings)
                for way, label in self.labels().items() for form in forms]


def pytorch_is_there():
    return subprocess.run(["/usr/bin/python3", "-c", "import torch"], env=environment(), stderr=subprocess.DEVNULL).returncode == 0
