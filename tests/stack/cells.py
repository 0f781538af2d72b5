#!/usr/bin/env python3
"""Compiles the programs of this directory with each compiler and level, runs them, and prints a table: how many bytes
`tw::stack_bytes` is above what runs write to their stack, the least and the most of a program's parts.

    tests/stack/cells.py --compilers g++,clang++-19 --levels 2,3 [PROGRAM ...]
    tests/stack/cells.py --object --bits 64,32    runs of a StaticSession, also for 32 bits

The exit status is 1 if a part writes more than the constant, or less by more than 16 KB. The table is followed by its output.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "embedded")]
from flags import PROJECT, flags  # noqa: E402
from machines import BITS_32, has_32_bits  # noqa: E402

BITS = {"64": [], "32": ["-msse2", "-mfpmath=sse", *BITS_32.split()]}


def paint(program, compiler, level, bits, given):
    """What a cell of the table says, and what went wrong: the output of the compiler or of the program."""
    options = [f"-I{PROJECT / 'examples'}", f"-O{level}", "-DNDEBUG", "-pthread", *([f"-march={given.march}"] if given.march else [])]
    options += [*BITS[bits], *(["-DTILEWRIGHT_STACK_OF_OBJECT"] if given.object else [])]
    options += shlex.split(flags("Clang" if "clang" in compiler else "GNU"))
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / program
        compiled = subprocess.run([compiler, *options, HERE / f"{program}.cpp", "-o", binary], capture_output=True, text=True)
        if compiled.returncode != 0:
            return "does not compile", compiled.stderr
        run = subprocess.run([binary], capture_output=True, text=True, env={**os.environ, "TILEWRIGHT_LOG_LEVEL": "ERROR"})
    parts = re.findall(r"stack painted +(\d+), stated +(\d+)", run.stdout)
    above = sorted({int(stated) - int(painted) for painted, stated in parts})
    cell = " to ".join(f"{bytes_above:,}" for bytes_above in sorted({*above[:1], *above[-1:]}))
    is_right = run.returncode == 0 and above
    return (cell, "") if is_right else (f"{cell} wrong", f"status {run.returncode}\n{run.stdout}{run.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="g++", help="separated by commas")
    parser.add_argument("--levels", default="2,3", help="of optimisation, separated by commas")
    parser.add_argument("--bits", default="64", help="64, 32 or both (%(default)s)")
    parser.add_argument("--object", action="store_true", help="runs of a StaticSession")
    parser.add_argument("--march", default="native", help="the processor; empty for the compiler's default")
    parser.add_argument("programs", nargs="*", default=sorted(path.stem for path in HERE.glob("*.cpp")), metavar="PROGRAM")
    given = parser.parse_args()
    columns = list(product(given.compilers.split(","), given.levels.split(","), given.bits.split(",")))
    if lacking := {compiler for compiler, _, bits in columns if bits == "32" and not has_32_bits(compiler)}:
        print(f"WITHOUT 32 bits for {', '.join(lacking)}: g++-12-multilib is missing, ./dev setup multilib installs it")
        columns = [each for each in columns if each[2] != "32" or each[0] not in lacking]
    names = [f"{compiler} -O{level}" + (", 32 bits" if bits == "32" else "") for compiler, level, bits in columns]
    print("| program |", " | ".join(names), "|")
    print("| --- |" + " ---: |" * len(columns), flush=True)
    faults = []
    for program in given.programs:
        cells = [paint(program, *column, given) for column in columns]
        print(f"| {program} |", " | ".join(cell for cell, _ in cells), "|", flush=True)
        faults += [f"{program}, {name}: {fault}" for name, (_, fault) in zip(names, cells) if fault]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
