#!/usr/bin/env python3
"""Makes the library's one header, and compiles and runs README.md's program with it, where the compiler finds no other header of the
library. The program is linked with a copy of itself: a definition that two translation units cannot both have is an error.

    single_header.py COMPILER OPTIONS
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
EXPECTED, MOST_OFF = 96.9, 0.5  # % of the test set


def output(command, folder):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout[:3000]}")
    return result.stdout


def program():
    """The first program of README.md, with one include of the library."""
    text = (PROJECT / "README.md").read_text()
    code = next(block for block in re.findall(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if "int main" in block)
    return '#include "tilewright.hpp"\n' + re.sub(r"^#include <tilewright/.*\n", "", code, flags=re.MULTILINE)


def main():
    compiler, options = sys.argv[1], shlex.split(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, PROJECT / "include" / "single_header.py", "tilewright.hpp"], folder)
        (Path(folder) / "readme.cpp").write_text(program())
        warnings = "-Wall -Wextra -Wpedantic -Wconversion -Werror".split()
        output([compiler, "-std=c++20", "-O1", "-march=native", *options, *warnings, "-c", "readme.cpp"], folder)
        output(["objcopy", "--redefine-sym", "main=not_main", "readme.o", "copy.o"], folder)
        output([compiler, "readme.o", "copy.o", "-o", "readme", "-pthread"], folder)
        printed = output(["./readme"], folder)
    match = re.search(r"([\d.]+) % of the test set", printed)
    if not match or abs(float(match[1]) - EXPECTED) > MOST_OFF:
        sys.exit(f"printed {printed[-300:]!r}: {EXPECTED} % of the test set expected")
    print(printed.splitlines()[-1])


if __name__ == "__main__":
    main()
