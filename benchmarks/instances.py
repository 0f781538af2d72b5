#!/usr/bin/env python3
"""Measures what several processes cost and save: training in one and two processes, and all-reduce beside MPI's.

    python3 benchmarks/instances.py --build-dir build/gcc

It builds nothing: `./dev bench instances` does.
"""

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

LAUNCH = Path(__file__).parents[1] / "examples" / "launch.py"
ROUNDS = 9


def launch(processes, program):
    result = subprocess.run([sys.executable, LAUNCH, str(processes), program], stdout=subprocess.PIPE, text=True, check=True)
    return re.sub(r"^\[\d+,\d+\]<stdout>:", "", result.stdout, flags=re.MULTILINE)


def rate(processes, program):
    return float(re.search(r"([0-9.]+) it/s", launch(processes, program))[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    build = parser.parse_args().build_dir / "benchmarks"
    rates = [(rate(1, build / "instances_train"), rate(2, build / "instances_train")) for _ in range(ROUNDS)]
    one, two = (statistics.median(column) for column in zip(*rates))
    print(f"MNIST's network, 2 replicas of batches of 64, a thread each process, medians of {ROUNDS} rounds in turn:")
    print(f"{one:.0f} steps a second in 1 process, {two:.0f} in 2: {statistics.median(b / a for a, b in rates):.2f} times as fast\n")
    print(launch(2, build / "instances_all_reduce"), end="")


if __name__ == "__main__":
    main()
