#!/usr/bin/env python3
"""What pages show as a program, and all examples, compile without optimisation for the processors that differ in intrinsics, which
are macros then. With Clang, also a sum that its fast options must leave alone."""

import argparse
import concurrent.futures
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LEVELS = ["x86-64", "x86-64-v3", "x86-64-v4"]
MEAN = """#include <tilewright/train/metrics.hpp>
int main(int count, char**) {
  tilewright::train::Mean mean;
  for (const double value : {1e20, 3000.0, -1e20}) mean.add(value, count);
  return mean.value() != 1000;
}
"""


def sources(folder):
    """The programs of pages, written to a folder, and the examples."""
    for page in [PROJECT / "README.md", *sorted(page for page in (PROJECT / "docs").glob("*/*.md") if page.parent.name != "generated")]:
        command = [sys.executable, PROJECT / "tests/docs/extract.py", page, folder / page.stem]
        for source in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split():
            if not any(part in Path(source).stem for part in ("_fails_", "_mistake_")):
                yield Path(source)
    yield PROJECT / "tests/without_optimisation/arrays.cpp"
    yield from sorted((PROJECT / "examples").rglob("*.cpp"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True, help="as in a shell")
    parser.add_argument("--only", default="", help="part of the path of a source")
    arguments = parser.parse_args()
    compiler = [arguments.compiler, *shlex.split(arguments.flags), f"-I{PROJECT / 'examples'}", f"-I{PROJECT / 'examples/gpt2'}", "-w"]
    macros = subprocess.run([arguments.compiler, "-dM", "-E", "-x", "c++", "/dev/null"], capture_output=True, text=True).stdout
    if "__x86_64__" not in macros:
        sys.exit(77)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def compiled(case):
            source, level, optimised = case
            command = [*compiler, f"-march={level}", optimised, "-c", source, "-o", os.devnull]
            result = subprocess.run(command, capture_output=True, text=True)
            lines = [line for line in result.stderr.splitlines() if "error" in line]
            if result.returncode and not any("mpi.h" in line for line in lines):
                return f"{source.name} {optimised} {level}: {(lines or [result.stderr])[0]}"

        chosen = [source for source in sources(folder) if arguments.only in str(source)]
        cases = [(source, level, optimised) for source in chosen for level in LEVELS for optimised in ("-O0", "-Og")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [problem for problem in pool.map(compiled, cases) if problem]
        if "__clang__" in macros:
            (folder / "mean.cpp").write_text(MEAN)
            for options in ("-ffast-math -fno-finite-math-only", "-funsafe-math-optimizations"):
                subprocess.run([*compiler, "-O2", *options.split(), folder / "mean.cpp", "-o", folder / "mean"], check=True)
                if subprocess.run([folder / "mean"]).returncode:
                    problems.append(f"Mean with {options}: 1000 expected")
    print("\n".join(problems) or f"{len(chosen)} programs, with {len(cases)} combinations of options")
    sys.exit(bool(problems) or not cases)


if __name__ == "__main__":
    main()
