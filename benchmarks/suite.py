#!/usr/bin/env python3
"""Measures tilewright and its peers on the same work, and prints one table of ratios.

All programs of a workload stay alive and take turns, round after round, so a machine that becomes slower slows all of them. Figures are
medians of the rounds; a ratio above 1 says that tilewright is better. Peers that are not built or installed are left out. This script
builds nothing: `./dev bench` does.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median, mode

from build_costs import build_program
from programs import CORES, MnistYardstick, OtherPytorch, Program, in_turns, openblas_settings, pytorch_is_there, pytorch_programs

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    program: str                 # of tilewright, in workloads/
    pytorch: tuple = ()          # (label, workload of peers/pytorch.py) each
    hand: str = ""               # optimiser of peers/hand_mnist.cpp
    libraries: tuple = ()        # (label, program in peers/) each, one thread
    variants: tuple = ()         # (label, program) each: other programs of tilewright for the same
    bound: bool = False          # whether the program counts its step's flops, to compare with the rate of multiply-adds
    other_pytorch: str = ""      # workload of peers/pytorch.py that a PyTorch which is given runs
    fusible: bool = True         # whether that has another form: see there
    onednn: str = ""             # program in peers/

    def programs(self):
        return self.program, *(program for _, program in self.variants)


WORKLOADS = (
    Workload("W1", "tutorial MNIST, training step, SGD", "mnist_sgd", (("PyTorch", "mnist_sgd"),), "sgd",
             (("Eigen and loops", "eigen_mnist"), ("OpenBLAS and loops", "openblas_mnist")), other_pytorch="mnist_sgd",
             fusible=False),
    Workload("W1a", "tutorial MNIST, training step, Adam", "mnist_adam", (("PyTorch", "mnist_adam"),), "adam"),
    Workload("W1h", "the same, first moment float16", "mnist_adam_half", (("PyTorch", "mnist_adam"),)),
    Workload("W2", "tutorial MNIST, inference of 80", "mnist_inference",
             (("PyTorch", "mnist_inference"), ("TorchScript", "mnist_inference_script")), other_pytorch="mnist_inference",
             fusible=False),
    Workload("W3", "user guide's network, training step", "mnist_guide", (("PyTorch", "mnist_guide"),)),
    Workload("W4", "encoder block, forward and backward", "encoder_block", (("PyTorch", "encoder_block"),),
             other_pytorch="encoder_block", onednn="onednn_encoder"),
    Workload("W5", "CNN, training step", "cnn", (("PyTorch", "cnn"),), other_pytorch="cnn", onednn="onednn_cnn"),
    Workload("W6", "12 encoder blocks outlined, forward and backward", "encoder_outlined", (("PyTorch", "encoder"),),
             variants=(("inlined", "encoder_inlined"),)),
    Workload("W7", "blocks of nanoGPT for a CPU, training step, Adam", "gpt_nano", (("PyTorch", "gpt_nano"),),
             variants=(("float16", "gpt_nano_half"),), bound=True, other_pytorch="gpt_nano"),
    Workload("W8", "blocks of GPT-2 124M, training step, SGD", "gpt_124m", (("PyTorch", "gpt_124m"),),
             variants=(("clipped by the global norm", "gpt_124m_clipped"),), bound=True, other_pytorch="gpt_124m"),
    Workload("W9", "GPT of llm.c's size, training step, AdamW", "gpt_llmc", (("PyTorch", "gpt_llmc"),), bound=True,
             other_pytorch="gpt_llmc"),
    Workload("W10", "causal attention of 12 heads, 1,024 x 64, forward and backward", "attention_causal", (("PyTorch", "attention"),),
             other_pytorch="attention"),
)


@dataclass(frozen=True)
class Row:
    """A line of the table: `ratio` says how many times better tilewright is, or is None."""
    what: str
    ours: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(rows):
    lines = ["| work | tilewright | | compared with | | ratio |", "| --- | --- | ---: | --- | ---: | ---: |"]
    for row in rows:
        values = [f"{number(value)} {row.unit}" if value is not None else "" for value in (row.value, row.peer_value)]
        lines.append(f"| {row.what} | {row.ours} | {values[0]} | {row.peer} | {values[1]} | "
                     f"{'' if row.ratio is None else f'{row.ratio:.2f}'} |")
    return "\n".join(lines)


def wide_table(rows):
    """A line for each workload, with the columns of docs/how-it-works/speed.md: on one thread, beside the bound and each peer."""
    variants = {label for workload in WORKLOADS for label, _ in workload.variants}  # of tilewright itself
    speeds = [row for row in rows if row.ours == "1 thread" and row.unit == "it/s" and row.peer not in {"", *variants}]
    bounds = {row.what: row for row in speeds if row.peer.startswith("bound")}
    peers = {(row.what, row.peer): row for row in speeds if not row.peer.startswith("bound")}
    labels = list(dict.fromkeys(label for _, label in peers))
    lines = [f"| work | tilewright | share of the bound | {' | '.join(labels)} | ratio to the fastest |",
             f"| --- | {'---: | ' * (len(labels) + 3)}".rstrip()]
    for what in dict.fromkeys(row.what for row in speeds):
        found = [peers.get((what, label)) for label in labels]
        share = f"{bounds[what].ratio:.2f}" if what in bounds else ""
        ours = next(row.value for row in speeds if row.what == what)
        ratio = min((row.ratio for row in found if row), default=None)
        cells = [what, number(ours), share, *(number(row and row.peer_value) for row in found), "" if ratio is None else f"{ratio:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def threads_text(count):
    return f"{count} thread{'s' if int(count) > 1 else ''}"


class Suite:
    def __init__(self, options):
        self.options = options
        self.rows, self.build_rows, self.raw = [], [], {}
        self.pytorch = not options.no_pytorch and pytorch_is_there()
        if not self.pytorch:
            print("PyTorch is left out: /usr/bin/python3 has no torch", file=sys.stderr)
        self.other_pytorch = OtherPytorch(options.pytorch) if options.pytorch else None
        self.threads = ["1"] if options.one_thread else list(dict.fromkeys(["1", str(CORES)]))
        self.temporary = tempfile.TemporaryDirectory()
        self.yardstick = MnistYardstick.built(options.hand, self.temporary.name) if options.hand else None

    def executable(self, name):
        path = self.options.build_dir / "benchmarks" / name
        return path if path.exists() else None

    def measure(self, workload):
        """The speed of a workload, and what memory its programs took."""
        executable = self.executable(workload.program)
        if not executable:
            print(f"{workload.name} is left out: no {workload.program} in {self.options.build_dir}", file=sys.stderr)
            return
        ours = {threads: Program(f"{threads}", [executable, threads]) for threads in dict.fromkeys([*self.threads, "auto"])
                if threads != "auto" or len(self.threads) > 1}
        variants = [Program(label, [path, "1"]) for label, name in workload.variants if (path := self.executable(name))]
        peers = {threads: self.peers(workload, threads) for threads in self.threads}
        fma_rate = self.executable("fma_rate") if workload.bound else None
        bounds = [Program("multiply-adds", [fma_rate, "1"])] if fma_rate else []
        programs = [*ours.values(), *variants, *(program for group in peers.values() for program in group), *bounds]
        print(f"{workload.name}: {len(programs)} programs, {self.options.rounds} rounds", file=sys.stderr)
        memory = in_turns(programs, self.options.rounds, self.options.seconds)

        what = f"{workload.name} {workload.what}"
        self.raw[what] = [{"program": program.label, "command": getattr(program, "command", None),
                           "settings": getattr(program, "settings", None), "it/s": program.rates} for program in programs]
        for variant in variants:
            self.compare(what, "1 thread", ours["1"], variant.label, [variant])
        if bounds:
            self.compare_with_bound(what, ours["1"], executable, bounds[0])
        for label in dict.fromkeys(peer.label for peer in peers["1"]):
            self.compare(what, "1 thread", ours["1"], label, [peer for peer in peers["1"] if peer.label == label])
        if "auto" in ours:
            auto = f"auto: {threads_text(mode(ours['auto'].threads_used[1:]))}"
            for threads in ("1", str(CORES)):
                self.compare(what, auto, ours["auto"], f"tilewright, {threads_text(threads)}", [ours[threads]])
            group = peers[str(CORES)]
            for label in dict.fromkeys(peer.label for peer in group):
                self.compare(what, auto, ours["auto"], f"{label}, {threads_text(CORES)}", [p for p in group if p.label == label])
        pytorch = [memory[peer] for peer in peers["1"] if peer.label == "PyTorch"]
        self.add_smaller(f"{what}: peak memory", "1 thread", memory[ours["1"]], "MB", "PyTorch", min(pytorch, default=None))

    def peers(self, workload, threads):
        result = []
        if self.pytorch:
            for label, name in workload.pytorch:
                result += pytorch_programs(label, name, threads)
        if self.other_pytorch and workload.other_pytorch:
            result += self.other_pytorch.programs(workload.other_pytorch, threads, workload.fusible)
        if workload.onednn and (path := self.executable(workload.onednn)):
            result.append(Program("oneDNN", [path, threads], OMP_NUM_THREADS=threads))
        if workload.hand and (path := self.executable("hand_mnist")):
            result.append(Program("written by hand", [path, workload.hand, threads]))
        if workload.name == "W1" and self.yardstick:
            result.append(MnistYardstick(f"yardstick {self.options.hand.name}", self.yardstick, threads))
        if threads == "1":
            for label, name in workload.libraries:
                if path := self.executable(name):
                    result += [Program(label, [path], OPENBLAS_NUM_THREADS="1", **settings) for settings in openblas_settings()]
        return result

    def compare_values(self):
        """Of oneDNN and of all forms of PyTorch, which compute the same with equal weights and inputs."""
        for workload in WORKLOADS:
            programs = [program for program in self.peers(workload, "1") if program.label.startswith(("PyTorch", "oneDNN"))]
            if not programs or not workload.other_pytorch:
                continue
            print(f"{workload.name}: values of {len(programs)} programs", file=sys.stderr)
            values = [program.values() for program in programs]
            for program, others in zip(programs, values):
                if len(others) != len(values[0]) or any(abs(a - b) > 1e-4 * abs(b) for a, b in zip(others, values[0])):
                    raise SystemExit(f"{workload.name}: {' '.join(program.command)} gives {others}, another program {values[0]}")

    def compare(self, what, ours, program, label, peers):
        """A row with the fastest of some peers."""
        rate, peer_rate = median(program.rates), max(median(peer.rates) for peer in peers)
        self.rows.append(Row(what, ours, rate, "it/s", label, peer_rate, rate / peer_rate))

    def compare_with_bound(self, what, program, executable, multiply_adds):
        """A row with the share of the speed that the step's products alone would have at the rate of independent multiply-adds."""
        flops = int(subprocess.run([executable, "flops"], stdout=subprocess.PIPE, text=True, check=True).stdout)
        rate, peak = median(program.rates), median(multiply_adds.rates)  # of 1e9 flops each
        bound = peak * 1e9 / flops
        self.rows.append(Row(what, "1 thread", rate, "it/s", f"bound: {flops / 1e9:.3g} GFLOP at {peak:.4g} GFLOP/s", bound,
                             rate / bound))

    def add_smaller(self, what, ours, value, unit, peer="", peer_value=None):
        """A row for something of which less is better."""
        ratio = peer_value / value if peer_value is not None else None
        self.rows.append(Row(what, ours, value, unit, peer if ratio else "", peer_value, ratio))

    def measure_start(self):
        """From nothing to the first result of an inference; weights are random numbers in both."""
        executable = self.executable("mnist_inference")
        if not executable:
            return
        programs = [Program("tilewright", [executable, "1"])]
        if self.pytorch:
            programs += pytorch_programs("PyTorch", "mnist_inference", "1")[:1]
        times = {program.label: [] for program in programs}
        for turn in range(self.options.rounds + 1):
            for program in programs:
                seconds = program.start()
                program.stop()
                if turn > 0:  # the first one reads the files
                    times[program.label].append(seconds)
        self.raw["start"] = times
        pytorch = 1000 * median(times["PyTorch"]) if "PyTorch" in times else None
        self.add_smaller("process start to first inference of 80", "1 thread", 1000 * median(times["tilewright"]), "ms",
                         "import torch and one forward", pytorch)

    def measure_sizes(self):
        """Stripped programs, and the machine code in them."""
        for workload in WORKLOADS:
            found = {name: sizes(path, self.temporary.name) for name in workload.programs() if (path := self.executable(name))}
            self.raw[f"{workload.name} bytes"] = found
            if workload.program not in found:
                continue
            label, peer = next(((label, found.get(name)) for label, name in workload.variants), ("", None))
            for what, size in found[workload.program].items():
                self.add_smaller(f"{workload.name} {what}", workload.program, size / 1000, "kB", label, peer and peer[what] / 1000)

    def measure_builds(self):
        """What building each program costs. It leaves those that are built for nothing else."""
        for build_dir in filter(None, (self.options.build_dir, self.options.clang_build_dir)):
            costs = {}
            for workload in WORKLOADS:
                for name in workload.programs():
                    print(f"building {name} in {build_dir}", file=sys.stderr)
                    costs[name] = build_program(build_dir, name)
            self.raw[f"builds in {build_dir}"] = costs
            for workload in WORKLOADS:
                if not (cost := costs[workload.program]):
                    continue
                label, peer = next(((label, costs[name]) for label, name in workload.variants), ("", None))
                for i, (what, unit) in enumerate((("build time", "s"), ("build memory", "MB"))):
                    self.add_smaller(f"{workload.name} {what}, {build_dir.name}", workload.program, cost[i], unit, label,
                                     peer and peer[i])

    def finish(self):
        self.rows += self.build_rows
        text = wide_table(self.rows) if self.options.wide else table(self.rows)
        print(text)
        if self.options.output:
            self.options.output.write_text(text + "\n")
        if self.options.json:
            rows = [vars(row) for row in self.rows]
            self.options.json.write_text(json.dumps({"rows": rows, "raw": self.raw}, indent=1) + "\n")


def sizes(executable, folder):
    """Bytes of the stripped program and of its machine code."""
    stripped = Path(folder) / "stripped"
    subprocess.run(["strip", "-o", stripped, executable], check=True)
    sections = subprocess.run(["size", "-A", stripped], stdout=subprocess.PIPE, text=True, check=True).stdout
    code = sum(int(line.split()[1]) for line in sections.splitlines() if line.startswith(".text"))
    return {"program, stripped": stripped.stat().st_size, "machine code": code}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--clang-build-dir", type=Path, help="a build directory of Clang, to measure what building costs there")
    parser.add_argument("--only", help="some of W1,W1a,W1h,W2,W3,W4,W5,W6,W7,W8,W9,W10,start,size,build; or values, which compares "
                        "what the peers compute with equal weights and inputs")
    parser.add_argument("--one-thread", action="store_true", help="measure nothing on several threads")
    parser.add_argument("--wide", action="store_true", help="a line for each workload on one thread, as in docs/how-it-works/speed.md")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each program in each round")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 0.1 s, and no measurement of builds")
    parser.add_argument("--no-pytorch", action="store_true")
    parser.add_argument("--pytorch", metavar="COMMAND", help="measure another PyTorch, too, eager and by torch.compile. "
                        "COMMAND runs its Python in the folder of this repository, such as 'venv/bin/python3'")
    parser.add_argument("--hand", type=Path, metavar="FILE.cpp", help="another program to compare W1 with: see MnistYardstick")
    parser.add_argument("--output", type=Path, help="file for the table")
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 5, 0.1
    parts = ["start", "size", *(workload.name for workload in WORKLOADS)] + ([] if options.quick else ["build"])
    if options.only:
        parts = options.only.split(",")

    suite = Suite(options)
    if "values" in parts:
        suite.compare_values()
    if "build" in parts:  # first: the other parts measure what it builds
        suite.measure_builds()
        suite.rows, suite.build_rows = [], suite.rows
    for workload in WORKLOADS:
        if workload.name in parts:
            suite.measure(workload)
    if "start" in parts:
        suite.measure_start()
    if "size" in parts:
        suite.measure_sizes()
    suite.finish()


if __name__ == "__main__":
    main()
