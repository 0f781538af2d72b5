#!/usr/bin/env python3
"""Tests that functions which call the library stay fast: GCC compiles code around an inlined call of a cold function for size, and
leaves loops there scalar. Neither may happen to loops of callers.cpp.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "callers.cpp"
CALLERS = set(re.findall(r"\bcaller_of_\w+", SOURCE.read_text()))
FUNCTION = re.compile(r"^[0-9a-f]+ <.*(caller_of_\w+)")
SCALAR_PRODUCT = re.compile(r"\bv?f?n?m(?:ul|add|sub)\w*ss\b")  # of floats, with or without a sum


def slow_callers(listing):
    """Callers with a scalar product in a listing of instructions, by functions."""
    slow, caller = set(), None
    for line in listing.splitlines():
        if line.endswith(">:"):
            match = FUNCTION.match(line)
            caller = match[1] if match else None
        elif caller and SCALAR_PRODUCT.search(line):
            slow.add(caller)
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="", help="for the compiler")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "callers.o"
        subprocess.run([options.compiler, *shlex.split(options.flags), "-O3", "-c", SOURCE, "-o", built], check=True)

        def output_of(*command):
            return subprocess.run([*command, built], capture_output=True, text=True, check=True).stdout

        missing = CALLERS - set(re.findall(r"\bcaller_of_\w+", output_of("nm", "-C")))
        slow = slow_callers(output_of("objdump", "-d", "-C", "-j", ".text.unlikely"))
    if missing:
        sys.exit(f"not in the object: {', '.join(sorted(missing))}")
    if slow:
        sys.exit(f"compiled for size: loops of {', '.join(sorted(slow))}")
    print(f"{len(CALLERS)} callers, whose loops are compiled for speed")


if __name__ == "__main__":
    main()
