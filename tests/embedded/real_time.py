#!/usr/bin/env python3
"""Runs of exported networks make no system call, call no function of others but those of memory, and take no lock. Their instructions
do not depend on values: valgrind counts them, for x86-64-v3. A pooling's do, so that the count tells of such ops."""

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from run import MEMORY, undefined

FOLDER = Path(__file__).resolve().parent
PROGRAMS = ["perceptron", "controller", "gru", "dilated", "pooled"]
KINDS = ["zeros", "NaN", "infinities", "denormals"]
LOCKS = re.compile(r"\tlock |\txchg .*\(|\tsyscall")


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def count_instructions(program, seeds, folder):
    """By the networks' names, the instructions of a run for each kind and each seed."""
    edges = [f"--{edge}=signal_nets_run_{name}" for name in PROGRAMS for edge in ("zero-before", "dump-after")]
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", *edges, program, seeds)
    counts = {name: [] for name in PROGRAMS}
    for i in range(len(PROGRAMS) * (len(KINDS) + seeds)):
        text = (folder / f"counts.{i + 1}").read_text()
        counts[re.search(r"--dump-after=signal_nets_run_(\w+)", text)[1]].append(int(re.search(r"^totals: (\d+)", text, re.MULTILINE)[1]))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--level", default="-O2 -march=x86-64-v3")
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="random inputs (%(default)s)")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder, program = Path(folder), Path(folder) / "real_time"
        run(sys.executable, FOLDER.parents[1] / "cmake" / "export.py", FOLDER / "real_time.hpp", *PROGRAMS, "--c", folder, "--name",
            "signal_nets", "--compiler", options.compiler, f"--flags={options.level}")
        run("gcc", "-std=gnu11", "-O1", "-Wall", "-Werror", FOLDER / "real_time.c", f"-I{folder}", f"-L{folder}", "-lsignal_nets", "-o",
            program)
        library = folder / "libsignal_nets.a"
        if more := undefined(library) - MEMORY:
            problems.append(f"the library needs {', '.join(sorted(more))}: functions of memory expected")
        problems += [f"a lock or a system call: {line}" for line in run("objdump", "-d", library).splitlines() if LOCKS.search(line)]
        if status := subprocess.run([program, str(options.seeds), "alone"]).returncode:
            problems.append(f"system calls in runs: status {status}, but 0 expected")
        if subprocess.run([program, "0", "alone", "planted"]).returncode != -signal.SIGSYS:
            problems.append("a system call before runs is not found")
        if shutil.which("valgrind"):
            for name, counts in count_instructions(program, options.seeds, folder).items():
                kinds = dict(zip(KINDS, counts)) | {"random": sorted(set(counts[len(KINDS):]))}
                print(f"{name}: {counts[-1]} instructions a run")
                if (len(set(counts)) == 1) == (name == "pooled"):
                    problems.append(f"{name}: instructions of a run: {kinds}")
    print("\n".join(problems) or "no system calls, locks or functions of others")
    if not problems and not shutil.which("valgrind"):
        print("skipped: instructions are not counted without valgrind; ./dev setup valgrind installs it")
        sys.exit(77)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
