#!/usr/bin/env python3
"""Runs of exported networks make no system call, and their instructions do not depend on values. strace tells of the calls, and
valgrind counts the instructions, for x86-64-v3."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = ["zeros", "NaN", "infinities", "denormals"]


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--level", default="-O2 -march=x86-64-v3")
    parser.add_argument("--seeds", type=int, default=4, metavar="N", help="random inputs to count instructions for (%(default)s)")
    options = parser.parse_args()
    if missing := [tool for tool in ("strace", "valgrind") if not shutil.which(tool)]:
        print(f"{', '.join(missing)}: not there")
        sys.exit(77)
    programs = ["perceptron", "gru", "dilated"]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder, program = Path(folder), Path(folder) / "real_time"
        run(sys.executable, FOLDER.parents[1] / "cmake" / "export.py", FOLDER / "real_time.hpp", *programs, "--c", folder, "--name",
            "signal_nets", "--compiler", options.compiler, f"--flags={options.level}")
        run("gcc", "-std=gnu11", "-O1", "-Wall", "-Werror", FOLDER / "real_time.c", f"-I{folder}", f"-L{folder}", "-lsignal_nets", "-lm",
            "-o", program)
        lines = run("strace", program, "1").splitlines()
        begin, end = (next(i for i, line in enumerate(lines) if f'write(2, "{word}' in line) for word in ("begin", "end"))
        # strace shows what the program writes, too
        if calls := [line for line in lines[begin + 1:end] if "(" in line]:
            problems.append("system calls in runs:\n" + "\n".join(calls))
        for name in programs:
            counts = {}
            for kind in [*KINDS, *map(str, range(1, options.seeds + 1))]:
                report = run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                             f"--toggle-collect=signal_nets_run_{name}", program, kind)
                counts[kind] = int(re.search(r"Collected : (\d+)", report)[1])
            print(f"{name}: {counts['1'] // 10} instructions a run")
            if len(set(counts.values())) != 1 or counts["1"] == 0:
                problems.append(f"{name}: instructions of ten runs: " + ", ".join(f"{kind} {n}" for kind, n in counts.items()))
    print("\n".join(problems) or "no system calls, and the same instructions for all inputs")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
