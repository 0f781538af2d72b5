#!/usr/bin/env python3
"""Shows where the time of several threads goes: records runs of the suite's programs, and prints one table in Markdown.

    python3 benchmarks/threads.py --build-dir build/gcc --out threads.md

A row is a kind of step: all steps with equal code. It has the time of each worker, the time that other workers wait for it, and the
speed of its code alone on one thread beside the speed while other workers run. A lower speed shows caches and memory that they share,
and the clock. The first row shows the clock alone: the rate of multiply-adds with the same numbers of threads.

This script builds nothing: `./dev bench threads` does. The machine must have no other work. --pack copies the programs and everything
that measuring needs to a folder. Its run.sh measures on another machine, in less than six minutes, and leaves the file threads.md.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import recordings
from programs import CORES, Program
from suite import WORKLOADS

HERE = Path(__file__).resolve().parent
THREADS = (1, 2, 8, 16)
ONLY = ("W1", "W2", "W4", "W5", "W7", "W8", "W9")
RUN = """#!/bin/sh
cd "$(dirname "$0")" && exec python3 benchmarks/threads.py --build-dir . --limit 330 --out threads.md "$@"
"""


class Clock:
    """Whether that many seconds are left before the limit."""

    def __init__(self, limit):
        self.end, self.left_out = time.monotonic() + limit, []

    def allows(self, seconds, what):
        if time.monotonic() + seconds <= self.end:
            return True
        self.left_out.append(what)
        return False


def count(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def processor():
    found = re.search(r"^model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def version():
    """The commit that was measured: that of a folder which --pack made, or of the checkout."""
    kept = HERE / "commit.txt"
    if kept.exists():
        return kept.read_text().strip()
    described = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=8"], cwd=HERE, capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


def multiply_adds(build, threads, seconds):
    """GFLOP/s of independent multiply-adds, by number of threads; empty if the program is not there."""
    rates = {}
    for n in threads if (build / "fma_rate").exists() else ():
        program = Program("multiply-adds", [build / "fma_rate", n])
        try:
            program.start()
            program.run(seconds / 2)
            rates[n] = program.run(seconds)
        finally:
            program.stop()
    return rates


def rate(executable, threads, seconds):
    """Iterations a second without a recorder, the better of two."""
    program = Program(executable.name, [executable, threads])
    try:
        program.start()
        program.run(seconds / 2)
        return max(program.run(seconds / 2) for _ in range(2))
    finally:
        program.stop()


def record(executable, threads, seconds, folder):
    path = Path(folder) / f"{executable.name}-{threads}"
    subprocess.run([executable, str(threads), "record", path, str(seconds)], check=True)
    return json.loads(path.with_suffix(".json").read_text())


def measure(executable, threads, seconds, folder, clock, name):
    """Recordings and rates without a recorder, by number of threads."""
    recorded, rates = {}, {}
    for n in threads:
        if clock.allows(6 * seconds, f"{name} with {count(n)}"):
            rates[n] = rate(executable, n, seconds)
            recorded[n] = record(executable, n, seconds, folder)
    return recorded, rates


def table(threads, build, seconds, clock, only, folder):
    """The lines of the table, and of what stands below it."""
    lines, notes = [recordings.head(threads)], []
    rates = multiply_adds(build, threads, seconds)
    if rates:
        blank = ["multiply-adds alone", "", f"{rates[1]:.0f} GFLOP/s", "", "", "", "", ""]
        lines.append(f"|  | {' | '.join(blank)} | {' | '.join(f'{rates[n] / n / rates[1]:.2f}' for n in threads[1:])} |")
    for work in WORKLOADS:
        executable = build / work.program
        if work.name not in only or not executable.exists():
            continue
        recorded, plain = measure(executable, threads, seconds, folder, clock, work.name)
        if 1 not in recorded or max(recorded) != max(threads):
            continue
        lines.append(recordings.rows(work.name, recorded))
        kept = {n: len(recordings.by_run(recording, n)) for n, recording in recorded.items()}
        costs = (f"{count(n)}: {plain[n]:,.1f} it/s, recorded {1e6 / recordings.Figures(recorded[n], n).run:,.1f} in {kept[n]} runs"
                 for n in recorded)
        notes.append(f"- {work.name}, {work.what}. Without a recorder, with {'; '.join(costs)}.")
    return lines, notes


def pack(build, folder):
    """A folder with the programs that are measured, this script and what it uses, and run.sh."""
    target = folder / "benchmarks"
    target.mkdir(parents=True, exist_ok=True)
    for name in ("fma_rate", *(work.program for work in WORKLOADS if work.name in ONLY)):
        subprocess.run(["strip", "-o", target / name, build / name], check=True)
    for name in ("threads.py", "recordings.py", "programs.py", "suite.py", "build_costs.py"):
        shutil.copy(HERE / name, target)
    (target / "commit.txt").write_text(version() + "\n")
    script = folder / "run.sh"
    script.write_text(RUN)
    script.chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--threads", default=",".join(str(n) for n in THREADS if n <= CORES),
                        help="numbers of threads, separated by commas, 1 first (default: %(default)s)")
    parser.add_argument("--only", default=",".join(ONLY), help="workloads of the suite (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=360,
                        help="seconds for everything; the output names what did not fit (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="the file of the table; default: standard output")
    parser.add_argument("--pack", type=Path, help="measure nothing, and make a folder for another machine")
    parser.add_argument("--keep", type=Path, help="a folder for the recordings, each with a trace for ui.perfetto.dev")
    options = parser.parse_args()
    threads = sorted(map(int, options.threads.split(",")))
    if threads[0] != 1 or len(threads) < 2:
        parser.error("--threads: 1 and at least one number more expected")
    build = options.build_dir / "benchmarks"
    if options.pack:
        return pack(build, options.pack)
    clock = Clock(options.limit)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        lines, notes = table(threads, build, options.seconds, clock, options.only.split(","), folder)
    if clock.left_out:
        notes.append(f"- Left out after {options.limit:.0f} seconds: {', '.join(clock.left_out)}.")
    load = os.getloadavg()[0]
    notes.append(f"- Commit {version()} on {processor()}, {CORES} cores for this process; load of the last minute at the end: {load:.1f}.")
    text = "\n".join([*lines, "", *notes, ""])
    if options.out:
        options.out.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
