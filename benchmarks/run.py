#!/usr/bin/env python3
"""Builds the programs of a kind of benchmark, and runs them: this is `./dev bench`. `KIND --help` shows the options of a kind.

Missing packages are installed by ./dev setup; peers that cannot be installed are left out. Programs run in the current folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEV = ROOT / "dev"
BUILD = ROOT / "build/gcc"
GENERATION_HEAD = """\
| dtype | threads | tokens/s | prompt, tokens/s | weights | read by tokens | read by a sum | share |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def call(*command):
    """Runs a command, and ends this program with its status if it fails."""
    sys.stdout.flush()
    if status := subprocess.run([str(part) for part in command]).returncode:
        sys.exit(status if status > 0 else 128 - status)


def build(target, preset="bench"):
    call(DEV, "build", preset, target)


def programs(prefix="", folder="."):
    """The programs of the sources in a folder."""
    return [BUILD / f"benchmarks/{prefix}{source.stem}" for source in sorted((HERE / folder).glob("*.cpp"))]


def script(name, arguments, build_dir=BUILD):
    call(sys.executable, HERE / name, "--build-dir", build_dir, *arguments)


def suite(arguments):
    build("benchmarks")
    clang = []
    if "--quick" not in arguments and is_set_up("clang") and shutil.which("clang++-19"):
        call("cmake", "-S", ROOT, "--preset", "bench-clang")
        clang = ["--clang-build-dir", ROOT / "build/clang"]
    script("suite.py", [*clang, *arguments])


def ops(arguments):
    build("op_benchmarks")
    script("ops.py", arguments)


def gpt(arguments):
    build("gpt")
    script("gpt.py", arguments)


def derivatives(arguments):
    build("derivatives_benchmarks")
    script("derivatives.py", arguments)


def threads(arguments):
    preset = "x86-64-v4" if "--pack" in arguments else "bench"
    build("thread_benchmarks", preset)
    script("threads.py", arguments, ROOT / "build/x86-64-v4" if "--pack" in arguments else BUILD)


def compiling(arguments):
    for purpose in ("clang", *(("eigen", "libtorch") if "--write" in arguments else ())):  # others leave rows out
        is_set_up(purpose)
    script("compiling.py", arguments)


def instances(arguments):
    build("instances_benchmarks")
    script("instances.py", arguments)


def scaling(arguments):
    build("scaling_benchmarks")
    script("scaling.py", arguments)


def size(arguments):
    call(sys.executable, HERE / "size.py", *arguments)


def latency(arguments):
    build("latency_benchmarks")
    script("latency.py", arguments)


def microcontrollers(arguments):
    call(sys.executable, HERE / "microcontrollers.py", *arguments)


def browser(arguments):
    call(sys.executable, HERE / "browser.py", *arguments)


def readme(arguments):
    build("readme_benchmarks")
    build("mnist")
    script("readme.py", arguments)


def kernels(arguments):
    build("kernel_benchmarks")
    for program in programs():
        call(program, *arguments)


def ipu(_):
    build("ipu_benchmarks")
    for program in programs("ipu_", "ipu"):
        call(program)


def fidelity(arguments):
    build("fidelity_benchmarks")
    script("fidelity.py", arguments)


def lab(arguments):
    named = [source.stem for source in (HERE / "lab").glob("*.hpp") if source.stem in arguments]
    for name in named[:1]:  # without one, the script says which there are
        build(f"benchmark_lab_{name}")
    script("lab.py", arguments)


def study(arguments):
    build("benchmark_lab_bert_layer")
    script("study.py", arguments)


def balance(_):
    build("balance_benchmarks")
    call(BUILD / "benchmarks/balance_workloads")


def generation(_):
    build("generation_benchmarks")
    print(GENERATION_HEAD)
    for dtype in ("float32", "float16"):
        for count in (1, 2)[:len(os.sched_getaffinity(0))]:
            call(BUILD / f"benchmarks/generation_{dtype}", count)


def pipelines(_):
    build("pipeline_benchmarks")
    call(BUILD / "benchmarks/pipelines_two_stages")


PEERS = {"openblas": "OpenBLAS", "pytorch": "PyTorch", "eigen": "Eigen", "onednn": "oneDNN",
         "npm": "TensorFlow.js", "derivatives": "ADOL-C and Sacado"}


@dataclass(frozen=True)
class Kind:
    what: str
    run: Callable
    script: str = ""  # its options are those of the kind; without one, a kind has none
    needs: tuple = ()  # purposes of cmake/packages.txt
    peers: tuple = ("openblas",)  # such purposes, too: what can be left out


KINDS = {
    "suite": Kind("tilewright and its peers on the same work; --quick for a first look, --pytorch 'COMMAND' for another PyTorch "
                  "in addition to Debian's: COMMAND runs its Python", suite, "suite.py", peers=("openblas", "pytorch", "eigen", "onednn", "npm")),
    "ops": Kind("single ops beside PyTorch, on one thread", ops, "ops.py", ("pytorch",)),
    "derivatives": Kind("values and derivatives beside libraries for them, PyTorch, and code by hand", derivatives, "derivatives.py",
                        peers=("derivatives", "eigen", "pytorch")),
    "gpt": Kind("training of examples/gpt.cpp beside PyTorch: --data FILE", gpt, "gpt.py", peers=("openblas", "pytorch")),
    "balance": Kind("how well plans follow 8, 16 and 64 threads by counts, as Markdown; nothing is measured", balance),
    "ipu": Kind("memory and cycles of programs on simulated IPUs, as Markdown", ipu),
    "fidelity": Kind("measurements of IPUs beside what the model says, with sources; --write writes docs/generated/fidelity.md", fidelity,
                     "fidelity.py", peers=()),
    "lab": Kind("plans of a program for many chips, on one page: ./dev lab PROGRAM", lab, "lab.py", peers=()),
    "study": Kind("half the memory or twice the exchange: 500 designs for a layer of a transformer; --write writes docs/generated/study.md",
                  study, "study.py", peers=()),
    "generation": Kind("tokens of a GPT with 124 million weights, one by one, beside the rate at which memory is read", generation),
    "pipelines": Kind("a pipeline of two stages on one and on two threads", pipelines),
    "compiling": Kind("what compiling costs with GCC and Clang; --beside COMMIT compares with a commit, --headers and --phases show "
                      "where the time goes, --write updates README.md and docs/", compiling, "compiling.py", peers=()),
    "instances": Kind("training in one and two processes, and all-reduce beside MPI's", instances, "instances.py", ("mpi",)),
    "threads": Kind("where the time of several threads goes; --pack FOLDER makes a folder for another machine with AVX-512, whose "
                    "run.sh measures there", threads, "threads.py"),
    "scaling": Kind("steps on 2 to 4,096 replicas by the simulation, which is checked with steps measured here", scaling,
                    "scaling.py", ("mpi",)),
    "size": Kind("bytes of networks as C libraries, by section and kernel", size, "size.py", peers=()),
    "latency": Kind("percentiles of single runs with batch 1 on one pinned thread, beside PyTorch and onnxruntime", latency, "latency.py",
                    peers=("pytorch",)),
    "microcontrollers": Kind("instructions on a Cortex-M7 in QEMU, beside plain loops", microcontrollers, "microcontrollers.py",
                             ("cortex",), peers=()),
    "browser": Kind("training steps in node beside the host's and TensorFlow.js's", browser, "browser.py", ("wasm",), ("npm",)),
    "kernels": Kind("single kernels, and a barrier; the options are Google Benchmark's, such as --benchmark_filter=MatMul", kernels),
    "readme": Kind("measures what the table in README.md shows, and updates its figures", readme, "readme.py",
                   peers=("pytorch", "onednn")),
}


def is_set_up(purpose):
    return subprocess.run([DEV, "setup", purpose]).returncode == 0


def main():
    kinds = "\n".join(textwrap.fill(kind.what, 100, initial_indent=f"  {name:12}", subsequent_indent=14 * " ")
                      for name, kind in KINDS.items())
    parser = argparse.ArgumentParser(prog="./dev bench", usage="./dev bench [KIND] [options]", description=__doc__,
                                     epilog=f"kinds; without one, suite:\n{kinds}", add_help=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help", "help"):
        return parser.print_help()
    name = "suite" if not arguments or arguments[0].startswith("-") else arguments.pop(0)
    kind = KINDS.get(name)
    if not kind:
        parser.error(f"no kind {name}: one of {', '.join(KINDS)} expected")
    if "--help" in arguments or "-h" in arguments:
        if not kind.script:
            return print(f"./dev bench {name}: {kind.what}")
        return call(sys.executable, HERE / kind.script, "--help")
    if arguments and not kind.script and name != "kernels":
        parser.error(f"{name} has no options")
    for purpose in ("bench", *kind.needs):
        call(DEV, "setup", purpose)
    for purpose in kind.peers:
        if not is_set_up(purpose):
            print(f"== comparing without {PEERS[purpose]}", file=sys.stderr)
    kind.run(arguments)


if __name__ == "__main__":
    main()
