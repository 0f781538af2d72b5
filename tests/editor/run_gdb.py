#!/usr/bin/env python3
"""The pretty printers in cmake/gdb print what they should, in GDB's batch mode: run_gdb.py PROGRAM, which printers.cpp is."""

import shutil
import subprocess
import sys
from pathlib import Path

PRINTERS = Path(__file__).resolve().parents[2] / "cmake" / "gdb" / "tilewright.py"
SKIPPED = 77
EXPECTED = {
    "shape": "(8, 784)",
    "vector": "(512,)",
    "scalar": "()",
    "spec": "(2, 3, 4) bool",
    "input": "Tensor[net.first.weight float16 (784, 3)]",
    "unnamed": "Tensor[#0 float32 (8, 784)]",
    "invalid": "invalid Tensor",
    "variables": "DotTree = {first.weight = Tensor[net.first.weight float16 (784, 3)], "
                 "second.weight = Tensor[net.second.weight float16 (3, 3)]}",
    "factories": "DotTree = {first.weight = VariableFactory of (784, 3) float16, second.weight = VariableFactory of (3, 3) float16}",
    "text": '"a \\"text\\""',
    "shapes": "List of 2 = {(1,), (2, 3)}",
}


def main():
    if not shutil.which("gdb"):
        print("no gdb: skipped")
        return SKIPPED
    commands = [f"source {PRINTERS}", "set debuginfod enabled off", "break look", "run"]
    for name in EXPECTED:
        commands += [f"echo {name}=", f"output {name}", r"echo \n"]
    arguments = [part for command in commands for part in ("-ex", command)]
    run = subprocess.run(["gdb", "-nx", "-batch", *arguments, sys.argv[1]], capture_output=True, text=True, timeout=300)
    printed = dict(line.split("=", 1) for line in run.stdout.splitlines() if "=" in line)
    wrong = [f"{name}: {printed.get(name)!r}: {expected!r} expected" for name, expected in EXPECTED.items()
             if printed.get(name) != expected]
    for line in wrong:
        print(line)
    if wrong:
        print(run.stdout[-3000:], run.stderr[-1000:])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
