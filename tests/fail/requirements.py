#!/usr/bin/env python3
"""Headers that the README, the pages and the examples include say first which compilers and libraries work, in few lines: GCC names
the header and its two includers, and the reason; Clang shows the line, too."""

import argparse
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^\s*#include <(tilewright/[\w/.]+)>", re.MULTILINE)
SENTENCE = "tilewright needs GCC 12 or Clang 18"


def problem_of(header, options):
    """Compiles a program that includes the header, as with a libc++ that is too old."""
    command = [options.compiler, *shlex.split(options.flags), "-D_LIBCPP_VERSION=190107", "-fsyntax-only", "-x", "c++", "-"]
    result = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
    text = result.stderr.strip()
    lines = len(text.splitlines())
    if result.returncode == 0 or (SENTENCE in text and lines <= options.most_lines):  # some need nothing new
        return None
    return f"{header}: {lines} lines, {options.most_lines} with \"{SENTENCE}\" expected:\n{text[:2000]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True)
    parser.add_argument("--most-lines", type=int, required=True)
    parser.add_argument("--only-readme", action="store_true", help="without the headers of pages and examples")
    options = parser.parse_args()
    sources = [PROJECT / "README.md"]
    if not options.only_readme:
        sources += [*PROJECT.glob("docs/**/*.md"), *PROJECT.glob("examples/**/*.?pp"), *PROJECT.glob("tests/package/*.cpp")]
    headers = sorted({header for source in sources for header in INCLUDE.findall(source.read_text())})
    with ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(lambda header: problem_of(header, options), headers) if problem]
    print("\n".join(problems) or f"{len(headers)} headers say first what is needed")
    sys.exit(bool(problems) or not headers)


if __name__ == "__main__":
    main()
