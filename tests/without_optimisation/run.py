#!/usr/bin/env python3
"""What pages show as a program, and all examples, compile without optimisation for the processors that differ in intrinsics, which
are macros then. With Clang, also a sum that its fast options must leave alone.

GCC needs both -O0 and -Og. With -O0 it does not see that an argument is a constant; with -Og it refuses a function that must be inlined
and is called by a pointer. What Clang refuses does not depend on the level, so -O0 is enough.

Sources are compiled several at once, as they share most of what a compiler does for them. When that fails, each is compiled alone, so
that failures name it."""

import argparse
import concurrent.futures
import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LEVELS = ["x86-64", "x86-64-v3", "x86-64-v4"]
TOGETHER = 8  # sources at most, as the compiler takes 0.3 GB for each
# In sources that no other may include, that need MPI, which not every machine has, or whose headers define what others define.
ALONE = re.compile(r"^#(?!include|line|pragma)|BOOST_HANA_ADAPT_STRUCT|tilewright/distributed/|guide_net\.hpp", re.MULTILINE)
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


def joined(parts, file):
    """Writes a source that includes others, each in a namespace of its own, after all headers that they include."""
    headers = {}  # in their order
    for source in parts:
        for name in re.findall(r'^#include [<"](.*?)[>"]', source.read_text(), re.MULTILINE):
            beside = (source.parent / name).resolve()
            headers[f'"{beside}"' if beside.is_file() else f"<{name}>"] = None
    texts = [f'namespace source_{i} {{\n#include "{source}"\n}}' for i, source in enumerate(parts)]
    file.write_text("\n".join([*(f"#include {header}" for header in headers), *texts, ""]))
    return file


def units_of(chosen, folder):
    """What to compile, and the sources that it stands for."""
    others = [source for source in chosen if not ALONE.search(source.read_text())]
    for i in range(0, len(others), TOGETHER):
        parts = others[i:i + TOGETHER]
        yield (joined(parts, folder / f"joined_{i}.cpp") if len(parts) > 1 else parts[0]), parts
    yield from ((source, [source]) for source in chosen if source not in others)


def first_error(command, source):
    """None if the source compiles."""
    result = subprocess.run([*command, "-S", source, "-o", os.devnull], capture_output=True, text=True)
    return next((line for line in result.stderr.splitlines() if "error" in line), result.stderr) if result.returncode else None


def errors_of(command, unit):
    """Sources of a unit that do not compile, and their first errors, unless only MPI is missing."""
    source, parts = unit
    if len(parts) > 1:
        if not (error := first_error(command, source)):
            return []
        print(f"each alone, after {error}", file=sys.stderr, flush=True)
    return [(part, error) for part in parts if (error := first_error(command, part)) and "mpi.h" not in error]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", required=True, help="as in a shell")
    parser.add_argument("--only", default="", help="part of the path of a source")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    compiler = [arguments.compiler, *shlex.split(arguments.flags), f"-I{PROJECT / 'examples'}", f"-I{PROJECT / 'examples/gpt2'}", "-w"]
    macros = subprocess.run([arguments.compiler, "-dM", "-E", "-x", "c++", "/dev/null"], capture_output=True, text=True).stdout
    if "__x86_64__" not in macros:
        sys.exit(77)
    is_clang = "__clang__" in macros
    if not is_clang:
        compiler += ["--param=ggc-min-heapsize=1500000", "--param=ggc-min-expand=100"]

    problems = []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(name)
        header = folder / "prelude.hpp"
        header.write_text("#include <tilewright/precompiled.hpp>\n")
        precompiled = f"{header}{'.pch' if is_clang else '.gch'}"
        chosen = [source for source in sources(folder) if arguments.only in str(source)]
        units = list(units_of(chosen, folder))
        combinations = [(level, optimised) for level in LEVELS for optimised in (["-O0"] if is_clang else ["-O0", "-Og"])]
        for level, optimised in combinations:
            command = [*compiler, f"-march={level}", optimised]
            subprocess.run([*command, "-x", "c++-header", header, "-o", precompiled], check=True)
            compile_unit = functools.partial(errors_of, [*command, "-include", header])
            for errors in pool.map(compile_unit, units):
                problems += [f"{source.name} {optimised} {level}: {error}" for source, error in errors]
            print(f"{len(units)} units {optimised} {level}: {len(problems)} failures until now", file=sys.stderr, flush=True)
        if is_clang:
            (folder / "mean.cpp").write_text(MEAN)
            for options in ("-ffast-math -fno-finite-math-only", "-funsafe-math-optimizations"):
                subprocess.run([*compiler, "-O2", *options.split(), folder / "mean.cpp", "-o", folder / "mean"], check=True)
                if subprocess.run([folder / "mean"]).returncode:
                    problems.append(f"Mean with {options}: 1000 expected")
    print("\n".join(problems) or f"{len(chosen)} programs, with {len(chosen) * len(combinations)} combinations of options")
    sys.exit(bool(problems) or not chosen)


if __name__ == "__main__":
    main()
