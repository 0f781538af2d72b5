#!/usr/bin/env python3
"""Compares the speed of two builds of the benchmarks, such as those of a change and of the previous commit.

    ./dev build bench    # in both checkouts
    python3 benchmarks/compare.py --before ../before/build/gcc --after build/gcc

Both programs of a workload stay alive and take turns. Each round gives one ratio, after to before; the table has the median. To see
the noise of a machine, give the same build twice.
"""

import argparse
import statistics
from pathlib import Path

from programs import CORES, Program

WORKLOADS = {"W1": "mnist_sgd", "W1a": "mnist_adam", "W1h": "mnist_adam_half", "W2": "mnist_inference", "W3": "mnist_guide",
             "W4": "encoder_block", "W5": "cnn", "W7": "gpt_nano", "W8": "gpt_124m", "W9": "gpt_llmc"}


def ratios(before, after, rounds, seconds):
    """One ratio for each round; who is first changes from round to round."""
    programs = [before, after]
    try:
        for program in programs:
            program.start()
            program.run(seconds)  # not counted: it fills caches
        for number in range(rounds):
            for program in programs if number % 2 == 0 else reversed(programs):
                program.rates.append(program.run(seconds))
    finally:
        for program in programs:
            program.stop()
    return [new / old for old, new in zip(before.rates, after.rates)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a build directory with benchmarks")
    parser.add_argument("--after", type=Path, required=True, help="the build directory to compare with it")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each run")
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads, separated by commas")
    parser.add_argument("--threads", default=f"1,{CORES}", help="numbers of threads, or auto, separated by commas")
    options = parser.parse_args()
    print("| work | threads | before, it/s | after, it/s | ratio: median | least | most |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for workload in options.only.split(","):
        for threads in options.threads.split(","):
            before, after = (Program(label, [folder / "benchmarks" / WORKLOADS[workload], threads])
                             for label, folder in (("before", options.before), ("after", options.after)))
            each = ratios(before, after, options.rounds, options.seconds)
            rates = [statistics.median(program.rates) for program in (before, after)]
            print(f"| {workload} | {threads} | {rates[0]:,.0f} | {rates[1]:,.0f} | {statistics.median(each):.3f} | "
                  f"{min(each):.3f} | {max(each):.3f} |", flush=True)


if __name__ == "__main__":
    main()
