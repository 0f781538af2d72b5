#!/usr/bin/env python3
"""The commands of docs/compiling.md have the options that CMakeLists.txt gives to users."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def main():
    listed = (PROJECT / "CMakeLists.txt").read_text()
    page = (PROJECT / "docs" / "compiling.md").read_text().replace("\\\n", " ")
    problems = []
    for compiler, command in [("GNU", "g++"), ("Clang", "clang++-19")]:
        options = re.search(rf"set\(tilewright_{compiler}_options ([^)]*)\)", listed)[1].split()
        shown = re.search(rf"^{re.escape(command)} .*-isystem.*$", page, re.MULTILINE)[0].split()
        problems += [f"docs/compiling.md: {command} without {option}" for option in options if option not in shown]
        problems += [f"docs/compiling.md: {command} with {option}, which CMakeLists.txt has not" for option in shown
                     if re.match(r"-f(constexpr|bracket|template)|--param", option) and option not in options]
    print("\n".join(problems) or "the commands have the options of CMakeLists.txt")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
