#!/usr/bin/env python3
"""Training steps a second in node, as WebAssembly, beside the host's: this is `./dev bench browser`.

The host's programs are C libraries for x86-64-v2, made by GCC. Both train in turns, and the fastest of all steps counts. With npm,
TensorFlow.js trains networks of the same sizes in node by its backends `cpu` and `wasm`. It fails if the share of the host's rate is
less than it must be."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
EXPORT = PROJECT / "cmake" / "export.py"
PROGRAMS = HERE / "browser"
PEER = "4.22.0"  # of TensorFlow.js
BACKENDS = ("cpu", "wasm")
STREAM = re.compile(r"(\w+) \(([\d, ]*)\) (float32|int32)")


@dataclass(frozen=True)
class Network:
    name: str
    what: str
    source: Path
    classes: int  # numbers of int32 streams are below
    least: float  # share of the host's rate
    least_beside_peer: float = 1


NETWORKS = (Network("digits", "784-32-10, batches of 8", PROJECT / "tests" / "embedded" / "net.hpp", 10, 0.8, 10),
            Network("convolutions", "two convolutions of 28 x 28, batches of 8", PROGRAMS / "convolutions.hpp", 10, 0.6),
            Network("gpt", "a GPT of 2 blocks, width 64, batches of 8 x 64", PROJECT / "examples" / "browser" / "gpt" / "gpt.hpp", 128, 0.6))


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def build_host(network, folder, flags):
    """A program that trains a network on the host, by a C library that is compiled with these flags."""
    run(sys.executable, EXPORT, network.source, "train_step", "--c", folder, "--name", "host", f"--flags={flags}")
    streams = re.search(r"/\* (.*) \*/\nint host_run_train_step", (folder / "host.h").read_text())[1]
    inputs = []
    for name, shape, dtype in STREAM.findall(streams):
        count = 1
        for extent in filter(None, shape.split(", ")):
            count *= int(extent)
        if name != "loss":
            inputs.append(f"{'const float' if dtype == 'float32' else 'const int32_t'}* {name} = "
                          f"{'floats' if dtype == 'float32' else 'ints'}({count})")
    names = ", ".join(re.findall(r"\* (\w+) =", "; ".join(inputs)))
    run("gcc", "-O2", PROGRAMS / "steps.c", f"-DCLASSES={network.classes}", f"-DINPUTS={'; '.join(inputs)}", f"-DARGUMENTS={names}",
        f"-I{folder}", f"-L{folder}", "-lhost", "-o", folder / "steps")
    return [folder / "steps"]


def build_module(network, folder, flags):
    """The same for node."""
    run(sys.executable, EXPORT, network.source, "train_step", "--wasm", folder, "--name", "net", f"--flags={flags} -lm -lc")
    return ["node", PROGRAMS / "steps.mjs", folder / "net.js", network.classes]


class Steps:
    """A program that trains, step by step."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.best, self.loss = float("inf"), None

    def run(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        best, loss = map(float, self.process.stdout.readline().split())
        self.best, self.loss = min(self.best, best), loss

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def install_peer(folder):
    """Whether TensorFlow.js is in the folder, or npm can put it there."""
    if not shutil.which("npm"):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", "--loglevel=error"]
    packages = [f"@tensorflow/{name}@{PEER}" for name in ("tfjs", "tfjs-backend-wasm")]
    return subprocess.run(["npm", "install", "--prefix", folder, *options, *packages], stdout=sys.stderr).returncode == 0


def rate_of_peer(network, backend, folder):
    """Steps a second, or why there are none."""
    program = folder / "tensorflow.mjs"
    shutil.copyfile(PROGRAMS / "tensorflow.mjs", program)  # node looks for packages beside it
    done = subprocess.run(["node", program, backend, network.name], capture_output=True, text=True)
    if done.returncode == 0:
        return float(done.stdout.splitlines()[-1])
    missing = re.search(r"Kernel '(\w+)' not registered", done.stderr)
    return f"cannot: has no {missing[1]}" if missing else f"fails: {done.stderr.strip().splitlines()[-1]}"


def measure(network, options, peers):
    with tempfile.TemporaryDirectory() as folder:
        programs = [Steps(build_host(network, Path(folder) / "host", options.host)),
                    Steps(build_module(network, Path(folder) / "wasm", options.flags))]
        for _ in range(options.rounds):
            for program in programs:
                program.run(options.steps // options.rounds)
        for program in programs:
            program.close()
    host, wasm = (1e9 / program.best for program in programs)
    row, right = [network.what, f"{wasm:,.0f}", f"{host:,.0f}", f"{wasm / host:.2f}"], wasm / host >= network.least
    for backend in BACKENDS if peers else ():
        rate = rate_of_peer(network, backend, peers)
        row.append(rate if isinstance(rate, str) else f"{rate:,.1f}, {wasm / rate:.0f} times slower")
        right &= isinstance(rate, str) or wasm / rate >= network.least_beside_peer
    print(f"| {' | '.join(row)} |", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(prog="./dev bench browser", description=__doc__)
    parser.add_argument("--only", choices=[network.name for network in NETWORKS], action="append", help="a network; without it, all")
    parser.add_argument("--steps", type=int, default=1000, help="of each program (%(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="in which they take turns (%(default)s)")
    parser.add_argument("--flags", default="-O3", help="of the module (%(default)s); write --flags=...")
    parser.add_argument("--host", default="-O3 -march=x86-64-v2", help="of the host's library (%(default)s); write --host=...")
    parser.add_argument("--without-peers", action="store_true", help="without TensorFlow.js")
    options = parser.parse_args()
    peers = PROJECT / "build" / "tensorflow-js"
    if options.without_peers or not install_peer(peers):
        print("== comparing without TensorFlow.js", file=sys.stderr)
        peers = None
    heads = ["steps a second", "in node", "on the host", "share", *(f"TensorFlow.js, {backend}" for backend in BACKENDS if peers)]
    print(f"| {' | '.join(heads)} |\n| --- |{' ---: |' * (len(heads) - 1)}")
    right = [measure(network, options, peers) for network in NETWORKS if not options.only or network.name in options.only]
    sys.exit(not all(right))


if __name__ == "__main__":
    main()
