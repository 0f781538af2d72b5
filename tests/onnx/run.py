#!/usr/bin/env python3
"""Imports the models of Debian's libonnx-testdata, compiles about 50 of them as one program, and compares their outputs.
One of 15 also runs in strict mode on a simulated IPU.

    tests/onnx/run.py                     a sample of three minutes
    tests/onnx/run.py --all [--write]     all models; --write puts the table by operator in docs/generated/onnx-operators.md
    tests/onnx/run.py --only add,conv     the models whose names have one of these words
    tests/onnx/run.py --imports           imports only, and counts what is missing by operator
    tests/onnx/run.py --strict            the models of strict mode alone, in this mode alone
    tests/onnx/run.py --all --resume      leaves out programs that passed before, of the same models and library
"""

import argparse
import collections
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
DATA = Path("/usr/share/libonnx-testdata/data")
SAMPLE = 12  # the sample has every 12th model
BATCH = 50  # models of a program
STRICT = 15  # every 15th imported model also runs in strict mode
sys.path[:0] = [str(PROJECT / "cmake/onnx"), str(HERE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", help="words of names, with commas")
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--first", type=int, default=0, help="number of the first model")
    parser.add_argument("--count", type=int, help="the number of models at most")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", type=Path, default=PROJECT / "include")
    options = parser.parse_args()
    if not DATA.is_dir():
        print("libonnx-testdata is not installed: left out")
        sys.exit(77)
    try:
        import models
    except ImportError as error:
        print(f"python3-{error.name} is not installed: left out")
        sys.exit(77)
    folders = sorted(path.parent for path in DATA.glob("*/*/model.onnx"))
    if options.only:
        folders = [each for each in folders if any(word in each.name for word in options.only.split(","))]
    elif not options.all and not options.imports:
        folders = folders[::SAMPLE]
    folders = folders[options.first:][:options.count]
    tried = [models.attempt(folder) for folder in folders]
    if not options.imports:
        import programs
        command = programs.command(options.compiler, options.include)
        run = programs.resumed if options.resume else programs.run
        ready = [each for each in tried if each.state == "imports"]
        strict = ready[::STRICT]
        for kind, part, header in ("", [] if options.strict else ready, "run.hpp"), (" in strict mode", strict, "strict.hpp"):
            part = [each for each in part if each.state != "fails"]
            for each in part:
                each.state = "imports"
            for first in range(0, len(part), BATCH):
                run(command, part[first:first + BATCH], header)
                print(f"{min(first + BATCH, len(part))} of {len(part)} models{kind}", flush=True)
            for each in part:
                each.text += kind if each.state == "fails" else ""
    sys.exit(report(tried, options))


def report(tried, options):
    """Prints counts and what is wrong; 1 if a model fails."""
    states = collections.Counter(each.state for each in tried)
    for each in tried:
        if each.state in ("fails", "faulty"):
            print(f"{each.folder.name}: {each.text}")
    missing = collections.Counter(op for each in tried if each.state == "missing" for op in {op for op, _ in each.problems})
    for op, count in missing.most_common():
        example = next(f"{each.folder.name}: {why}" for each in tried for its, why in each.problems if its == op)
        print(f"missing: {op} in {count}, such as {example}")
    print(f"{len(tried)} models: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    if options.write:
        import table_page
        table_page.write(tried)
    return int(bool(states["fails"] + states["faulty"]))


if __name__ == "__main__":
    main()
