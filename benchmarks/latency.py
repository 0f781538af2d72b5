#!/usr/bin/env python3
"""How long single runs of networks take with batch 1 on one pinned thread, in a StaticSession, a Session, PyTorch, onnxruntime and
RTNeural: this is `./dev bench latency`.

All programs of a network are alive and take turns. Each gets a number of runs on standard input and answers with the 50th, 99th and
99.9th percentile and the maximum of their times, in nanoseconds: `ns 980 1010 1500 20000`. The window with the least 99th percentile
is the best one. A time includes two readings of the clock, and in PyTorch the call from Python."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import KEEP_MEMORY, PEERS, OtherPytorch, Program, pytorch_is_there

HERE = Path(__file__).resolve().parent
NETWORKS = {"perceptron": "784-32-10", "controller": "10-16-16-1", "gru": "GRU of 64, 8 steps of 16 features",
            "dilated": "16 channels over 64 samples, dilation 4"}
HEAD = """\
| network | program | p50, us | p99 | p99.9 | maximum | p50 and p99 of all windows |
| --- | --- | ---: | ---: | ---: | ---: | --- |"""


def measure(programs, windows, runs):
    """By the programs, the percentiles of each window."""
    results = {program: [] for program in programs}
    try:
        for program in programs:
            program.start()
        for window in range(windows + 1):  # the first fills caches
            for program in programs:
                program.process.stdin.write(f"{runs if window else runs // 10}\n")
                times = [int(time) for time in program.answer(r"ns (\d+) (\d+) (\d+) (\d+)").groups()]
                if window:
                    results[program].append(times)
    finally:
        for program in programs:
            program.stop()
    return results


def onnxruntime_program(network, release, pytorch, folder):
    """A network that PyTorch writes, in a program that is compiled for a release of onnxruntime."""
    peer, (header, *_), (library, *_) = (folder / "onnxruntime_latency", sorted(release.rglob("onnxruntime_c_api.h")),
                                         sorted(release.rglob("libonnxruntime.so*")))
    if not peer.exists():
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", PEERS / "onnxruntime_latency.cpp", f"-I{header.parent}",
                        library.resolve(), f"-Wl,-rpath,{library.parent.resolve()}", "-o", peer], check=True)
    script = (PEERS / "pytorch_latency.py").relative_to(pytorch.ROOT)
    shapes = subprocess.run([*pytorch.command, script, network, folder / f"{network}.onnx"], cwd=pytorch.ROOT, stdout=subprocess.PIPE,
                            text=True, check=True).stdout.splitlines()[-1].split()
    return Program("onnxruntime", [peer, folder / f"{network}.onnx", *shapes])


def rtneural_program(network, source, folder):
    """A network in a program that is compiled with RTNeural's source, and its vectors by xsimd."""
    peer = folder / "rtneural_latency"
    if not peer.exists():
        includes = [f"-I{source / each}" for each in (".", "modules/json", "modules/xsimd/include")]
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-march=native", "-ffast-math", "-w", "-DRTNEURAL_USE_XSIMD=1",
                        *includes, PEERS / "rtneural_latency.cpp", "-o", peer], check=True)
    return Program("RTNeural", [peer, network])


def row(what, label, windows):
    best = min(windows, key=lambda times: times[1])
    every = ", ".join(f"{p50 / 1000:,.2f} {p99 / 1000:,.2f}" for p50, p99, *_ in windows)
    return f"| {what} | {label} | " + " | ".join(f"{time / 1000:,.2f}" for time in best) + f" | {every} |"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench latency", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--only", choices=NETWORKS, help="one network")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100_000, help="in each window (%(default)s)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="that all programs run on (%(default)s)")
    parser.add_argument("--pytorch", metavar="COMMAND", help="measure another PyTorch: COMMAND runs its Python")
    parser.add_argument("--onnxruntime", type=Path, metavar="FOLDER",
                        help="measure onnxruntime: FOLDER has onnxruntime_c_api.h and libonnxruntime.so; PyTorch writes the networks")
    parser.add_argument("--rtneural", type=Path, metavar="FOLDER",
                        help="measure RTNeural: FOLDER has its source, with xsimd in modules/xsimd")
    options = parser.parse_args()
    command = options.pytorch or ("/usr/bin/python3" if pytorch_is_there() else "")
    pytorch = OtherPytorch(command) if command else None
    os.sched_setaffinity(0, {options.core})
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for network in [options.only] if options.only else NETWORKS:
            own = [options.build_dir / "benchmarks/latency_networks", network]
            programs = [Program("StaticSession", [*own, "object"]), Program("Session", [*own, "session"])]
            if pytorch:
                script = (PEERS / "pytorch_latency.py").relative_to(pytorch.ROOT)
                programs.append(Program(pytorch.label, [*pytorch.command, script, network], pytorch.ROOT, **KEEP_MEMORY))
            if pytorch and options.onnxruntime:
                programs.append(onnxruntime_program(network, options.onnxruntime, pytorch, Path(folder)))
            if options.rtneural:
                programs.append(rtneural_program(network, options.rtneural, Path(folder)))
            for program, windows in measure(programs, options.windows, options.runs).items():
                print(row(NETWORKS[network], program.label, windows), flush=True)


if __name__ == "__main__":
    sys.exit(main())
