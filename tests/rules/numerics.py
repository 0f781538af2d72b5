#!/usr/bin/env python3
"""The tables of docs/reference/numerics.md have the bounds and errors that the tests of numerics check."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ROW = re.compile(r'\{"([^"]+)", ([\d.e+]+), ([\d.e+]+)\}')


def main():
    page = (PROJECT / "docs/reference/numerics.md").read_text().splitlines()
    tests = sorted((PROJECT / "tests/run/kernels").glob("numerics_*.cpp"))
    rows = [f"| {what} | {bound} | {measured} |" for test in tests for what, bound, measured in ROW.findall(test.read_text())]
    missing = [row for row in rows if row not in page]
    for row in missing:
        print(f"docs/reference/numerics.md: no line is {row}")
    numbers = [line for line in page if re.fullmatch(r"\| [^|]+ \| [\d.e+]+ \| [\d.e+]+ \|", line)]
    unknown = [line for line in numbers if line not in rows]
    for line in unknown:
        print(f"docs/reference/numerics.md: no test has {line}")
    return 1 if missing or unknown or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
