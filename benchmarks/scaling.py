#!/usr/bin/env python3
"""Predicts what steps take on many replicas, compares predictions with steps measured here, and prints tables for 2 to 4,096 replicas.

    python3 benchmarks/scaling.py --build-dir build/gcc

The time of computing comes from programs of one replica: two in turn in one process, or one in each of two processes at a time. The
times of messages and reductions come from all-reduces that belong to no step. From these the script predicts steps of two replicas,
and compares them with measured ones.

A round measures everything, one after the other, and predicts with its own figures, because machines have slow minutes. A figure of a
round is the least of many repetitions; the tables have medians of the rounds. The machine must have no other work: if a process waits
for its core, the others wait for it in each collective.
"""

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

LAUNCH = Path(__file__).parents[1] / "examples" / "launch.py"
LONG_ROUNDS = 3  # of those, rounds with W8
MOST_ERROR = 0.15  # of steps of more than LEAST_SECONDS
LEAST_SECONDS = 1e-3
HEADER_BYTES, MOST_ALONG = 64, 8192  # of the default all-reduce: include/tilewright/distributed/transport.hpp
CACHE_BYTES = 32 << 20  # programs whose tensors have more get the figures of all-reduces of CACHED < bytes
CACHED = 4 << 20
# name, title, and by number of replicas the program and its arguments
WORKLOADS = [("net", "the tutorial's network", {1: ["net", "1"], 2: ["net", "2"], 4: ["net", "4"]}),
             ("w8", "W8", {1: ["gpt_1"], 2: ["gpt_2"], 4: ["gpt_4"]})]


class Programs:
    def __init__(self, build):
        self.build = build

    def lines(self, processes, name, *arguments):
        command = [sys.executable, LAUNCH, str(processes), self.build / f"scaling_{name}", *arguments]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return re.sub(r"^\[\d+,\d+\]<stdout>:", "", text, flags=re.MULTILINE).splitlines()

    def seconds(self, processes, name, *arguments):
        return float(self.lines(processes, name, *arguments)[0].split()[1])

    def all_reduces(self, processes):
        """By number of replicas, bytes of all tensors and bytes of a tensor: seconds of a tensor."""
        rows = (line.split() for line in self.lines(processes, "links"))
        return {tuple(map(int, row[:3])): float(row[3]) for row in rows}

    def predict(self, *arguments):
        command = [self.build / "scaling_predict", *map(str, arguments)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def measure(programs, number):
    """One round: the links between two processes, and next to it in time what depends on them."""
    measured = {}
    for processes in (1, 2):
        measured["links", processes] = programs.all_reduces(processes)
    for name, _, by_replicas in WORKLOADS if number < LONG_ROUNDS else WORKLOADS[:1]:
        for processes in (2, 1):
            measured[name, 1, processes] = programs.seconds(processes, *by_replicas[1], str(2 // processes))
            measured[name, 2, processes] = programs.seconds(processes, *by_replicas[2])
        if number == 0:
            measured[name, 4, 4] = programs.seconds(4, *by_replicas[4])
    return measured


def sizes(times, replicas, in_memory):
    """Tensors, their bytes with the seconds of one, as they were measured for a program with few or many bytes. Small tensors
    were measured in small sets only."""
    large = min(size for _, of_all, size in times if of_all > CACHED)
    return {size: seconds for (count, of_all, size), seconds in sorted(times.items())
            if count == replicas and (of_all > CACHED if in_memory and size >= large else of_all <= CACHED)}


def operand_rate(times, replicas, in_memory):
    """Bytes of operands a second in one process, by the largest tensors of those that are like a program's."""
    found = sizes(times, replicas, in_memory)
    size = max(found)
    return replicas * size / found[size]


def messages(measured, in_memory):
    """(bytes, seconds) of messages between two processes, from all-reduces of two replicas in them less the reductions."""
    together, apart = (sizes(measured["links", processes], 2, in_memory) for processes in (1, 2))
    result, header = [], 0.0
    for size, seconds in apart.items():
        reduction = together[size] / 2  # that of a share of half of the elements, or with nothing else of all
        padded = -(-size // 64) * 64
        if padded <= MOST_ALONG:
            result.append((HEADER_BYTES + padded, seconds - together[size]))
            header = header or result[0][1]
        else:
            result.append((size // 2, (seconds - header - reduction) / 2))
    return result


def computation(programs, measured, name, processes):
    """The seconds that a replica computes: those of a program of one replica less the reduction of its tensors."""
    bytes_of_all = int(programs.predict("bytes", name))
    return measured[name, 1, processes] - bytes_of_all / operand_rate(measured["links", 1], 1, bytes_of_all > CACHE_BYTES)


def predict(programs, measured, name, replicas, processes):
    """The seconds of a step, from the measurements of a round."""
    in_memory = int(programs.predict("bytes", name)) > CACHE_BYTES
    seconds = computation(programs, measured, name, min(processes, 2)) * max(1, processes / 2)  # on two cores
    points = [value for point in messages(measured, in_memory) for value in point]
    return float(programs.predict("step", name, seconds, replicas, replicas // processes,
                                  operand_rate(measured["links", 1], 2, in_memory), *points).split()[0])


def check(programs, rounds):
    """Prints the comparison; whether each judged error is small enough."""
    print("| step | replicas | processes | predicted | measured | error |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    good = True
    for name, title, _ in WORKLOADS:
        for replicas, processes in ((2, 1), (2, 2), (4, 4)):
            pairs = [(predict(programs, measured, name, replicas, processes), measured[name, replicas, processes])
                     for measured in rounds if (name, replicas, processes) in measured]
            predicted, found = (statistics.median(column) for column in zip(*pairs))
            error = statistics.median(first / second - 1 for first, second in pairs)
            judged = processes <= 2 and found > LEAST_SECONDS
            good = good and (not judged or abs(error) <= MOST_ERROR)
            print(f"| {title} | {replicas} | {processes} | {predicted * 1e3:.2f} ms | {found * 1e3:.2f} ms | "
                  f"{error * 100:+.1f} %{'' if judged else ', not judged'} |")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    programs = Programs(arguments.build_dir / "benchmarks")
    rounds = [measure(programs, number) for number in range(arguments.rounds)]
    good = check(programs, rounds)
    for in_memory in (False, True):
        columns = zip(*(messages(measured, in_memory) for measured in rounds))
        rate = statistics.median(operand_rate(measured["links", 1], 2, in_memory) for measured in rounds)
        print(f"\nSets of {'96' if in_memory else 'up to 4'} MiB: reductions of {rate / 1e9:.1f} GB/s; messages, bytes and us:",
              ", ".join(f"{column[0][0]} {statistics.median(seconds for _, seconds in column) * 1e6:.2f}" for column in columns))
    print(programs.predict("tables", *(statistics.median(computation(programs, measured, name, 2) for measured in rounds
                                                         if (name, 1, 2) in measured) for name, *_ in WORKLOADS)), end="")
    sys.exit(not good)


if __name__ == "__main__":
    main()
