#!/usr/bin/env python3
"""Tests what the constant evaluation of model.cpp costs, in operations as GCC counts them: the same on every machine.

The limit is what it took when it was measured last, and 4 %. A change that needs more is worth a look at what it costs a user's
compile time; `run.py --measure` finds what it takes now, for LIMITS below.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

LIMITS = {"12.2": 4_618_250}  # by version of GCC
MARGIN = 1.04
SKIPPED = 77  # the exit status that ctest shows as skipped
MODEL = Path(__file__).resolve().parent / "model.cpp"


def version_of(compiler):
    """"12.2", or None for a compiler that is not GCC."""
    text = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.match(r"\S*g\+\+\S* \([^)]*\) (\d+\.\d+)", text)
    return match[1] if match else None


def compiles(command, limit):
    """Whether the model's evaluation takes at most so many operations."""
    result = subprocess.run([*command, f"-fconstexpr-ops-limit={limit}", "-fsyntax-only", str(MODEL)], capture_output=True,
                            text=True)
    if result.returncode != 0 and "operation count exceeds limit" not in result.stderr:
        sys.exit(result.stderr)
    return result.returncode == 0


def measure(command):
    """What the evaluation takes, to a thousandth."""
    low, high = 0, 1_000_000
    while not compiles(command, high):
        low, high = high, 2 * high
    while high - low > high / 1000:
        middle = (low + high) // 2
        low, high = (low, middle) if compiles(command, middle) else (middle, high)
    return high


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default=None, help="as in a shell; write --flags=...; those of the test unless given")
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()

    version = version_of(options.compiler)
    flags = options.flags
    if flags is None:
        include = MODEL.parents[2] / "include"
        flags = f"-std=c++20 -I{include} -DXTENSOR_USE_XSIMD -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096"
    flags = [flag for flag in shlex.split(flags) if not flag.startswith("-fconstexpr-ops-limit")]
    command = [options.compiler, *flags]
    if options.measure:
        need = measure(command)
        print(f"GCC {version}: {need} operations; the limit for LIMITS is {int(need * MARGIN)}")
    elif version not in LIMITS:
        print("skipped: GCC 12 only")
        sys.exit(SKIPPED)
    elif not compiles(command, LIMITS[version]):
        sys.exit(f"model.cpp takes more than {LIMITS[version]} operations of constant evaluation: see {__file__} --help")
    else:
        print(f"model.cpp takes at most {LIMITS[version]} operations of constant evaluation")


if __name__ == "__main__":
    main()
