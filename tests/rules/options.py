#!/usr/bin/env python3
"""The commands of docs/start/compiling.md have the options that CMakeLists.txt gives to users. .clangd replaces GCC's by Clang's."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def main():
    listed = (PROJECT / "CMakeLists.txt").read_text()
    page = (PROJECT / "docs/start/compiling.md").read_text().replace("\\\n", " ")
    problems = []
    options_of = {compiler: re.search(rf"set\(tilewright_{compiler}_options ([^)]*)\)", listed)[1].split()
                  for compiler in ("GNU", "GNU_14", "Clang")}
    for compiler, command in [("GNU", "g++"), ("Clang", "clang++-19")]:
        options = options_of[compiler]
        shown = re.search(rf"^{re.escape(command)} .*-isystem.*$", page, re.MULTILINE)[0].split()
        problems += [f"docs/start/compiling.md: {command} without {option}" for option in options if option not in shown]
        problems += [f"docs/start/compiling.md: {command} with {option}, which CMakeLists.txt has not" for option in shown
                     if re.match(r"-f(constexpr|bracket|template)|--param", option) and option not in options]
    clangd = (PROJECT / ".clangd").read_text()
    removed, added = (re.search(rf"{key}: \[([^\]]*)\]", clangd)[1].replace(",", " ").split() for key in ("Remove", "Add"))
    problems += [f".clangd: {option} in Remove expected" for option in options_of["GNU"] + options_of["GNU_14"]
                 if option not in options_of["Clang"] and not any(option.startswith(each.rstrip("*")) for each in removed)]
    if sorted(added) != sorted(options_of["Clang"]):
        problems.append(f".clangd: Add: {' '.join(options_of['Clang'])} expected")
    print("\n".join(problems) or "the commands have the options of CMakeLists.txt")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
