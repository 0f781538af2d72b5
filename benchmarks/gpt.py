#!/usr/bin/env python3
"""Trains nanoGPT's published setting for a CPU by examples/gpt.cpp and by PyTorch, in turn, and prints losses and speeds.

Each seed is one round: PyTorch, then the example in float32, then in float16. A speed is steps a second, and includes batches,
clipping, updates and the validation at the end. The time of the example is that of the whole process; the time of PyTorch begins with
its first batch. This script builds nothing: `./dev bench gpt` does.
"""

import argparse
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median

from programs import environment

HERE = Path(__file__).resolve().parent


def run(command, pattern):
    """The numbers that a program prints as the pattern says, and its seconds."""
    begin = time.perf_counter()
    output = subprocess.run([str(part) for part in command], env=environment(), stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds = time.perf_counter() - begin
    match = re.search(pattern, output)
    if not match:
        sys.exit(f"{shlex.join(map(str, command))}: {pattern!r} expected, got {output!r}")
    return [float(number) for number in match.groups()], seconds


def train_pytorch(options, seed):
    command = [*shlex.split(options.pytorch), HERE / "peers/pytorch_gpt.py", options.data, seed, options.steps,
               options.eval_batches, options.threads]
    (loss, seconds), _ = run(command, r"validation loss ([\d.]+), ([\d.]+) seconds")
    return loss, options.steps / seconds


def train_example(options, seed, dtype):
    command = [options.build_dir / "examples/gpt", "--data", options.data, "--seed", seed, "--steps", options.steps,
               "--eval-every", options.steps, "--eval-batches", options.eval_batches, "--threads", options.threads,
               "--dtype", dtype]
    (loss,), seconds = run(command, r"validation loss ([\d.]+) after \d+ steps, \d+ tokens/s\n$")
    return loss, options.steps / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--data", type=Path, required=True, help="text to train with")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--eval-batches", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pytorch", metavar="COMMAND", default="/usr/bin/python3", help="a command that runs a Python with PyTorch")
    parser.add_argument("--no-pytorch", action="store_true")
    options = parser.parse_args()
    options.data = options.data.resolve()

    programs = {"float32": lambda seed: train_example(options, seed, "float32"),
                "float16": lambda seed: train_example(options, seed, "float16")}
    if not options.no_pytorch:
        programs = {"PyTorch": lambda seed: train_pytorch(options, seed)} | programs
    results = {name: [] for name in programs}
    for seed in options.seeds:
        for name, train in programs.items():
            loss, speed = train(seed)
            results[name].append((loss, speed))
            print(f"seed {seed}, {name}: validation loss {loss:.4f}, {speed:.1f} it/s", file=sys.stderr)
    print("| program | validation losses | mean | it/s, median | of PyTorch's |\n| --- | --- | ---: | ---: | ---: |")
    for name, found in results.items():
        losses, speeds = zip(*found)
        ratios = [speed / peer for speed, (_, peer) in zip(speeds, results.get("PyTorch", []))]
        print(f"| {name} | {', '.join(f'{loss:.4f}' for loss in losses)} | {mean(losses):.4f} | {median(speeds):.1f} | "
              f"{f'{median(ratios):.2f}' if ratios else ''} |")


if __name__ == "__main__":
    main()
