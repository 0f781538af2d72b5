#!/usr/bin/env python3
"""Compiles and runs each program of a folder, and prints a table: a program that shows a fault exits with another status than 0.

A program's first comment may name options for the compiler: `Compile with -ffast-math`. More are given as
`--flags-of NAME=FLAGS`. `--may-fail NAME` and `--may-not-compile NAME` are for programs that show what is meant to be so. With
`--only NAME ...`, only these run.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from flags import flags

PROJECT = Path(__file__).resolve().parents[1]


def options_of_compiler(compiler):
    """Those of a user, and an include path for examples."""
    vendor = "Clang" if "clang" in Path(compiler).name else "GNU"
    return [*shlex.split(flags(vendor)), "-march=native", *(f"-I{PROJECT / folder}" for folder in ("examples", "examples/gpt2"))]


def options_in(program):
    """What the comment at the beginning of a program names: -O..., -f..., -D..., after the word "with"."""
    comment = re.match(r"(?://[^\n]*\n)*", program.read_text())[0]
    match = re.search(r"(?:Compile|Build) with\b(.*)", comment, re.DOTALL)
    return re.findall(r"(?<=\s)-(?:Ofast|f[\w-]+(?:=[\w,-]+)?)", " " + match[1].split(":")[0]) if match else []


def run(command, seconds, folder):
    """The status, the output and the seconds; None as status: it takes longer."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = None
    return status, output, time.monotonic() - start


def word_for(status):
    if status is None:
        return "takes too long"
    return "0" if status == 0 else f"signal {-status}" if status < 0 else f"status {status}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-O2", help="further options, as in a shell; write --flags=...")
    parser.add_argument("--flags-of", action="append", default=[], metavar="NAME=FLAGS")
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--may-fail", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--may-not-compile", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--seconds", type=float, default=900, help="that a program may take; default: %(default)s")
    options = parser.parse_args()
    programs = [path for path in sorted(options.folder.resolve().glob("*.cpp")) if not options.only or path.stem in options.only]
    if not programs:
        sys.exit(f"no programs in {options.folder}")
    more = dict(each.split("=", 1) for each in options.flags_of)
    common = [options.compiler, *options_of_compiler(options.compiler), *shlex.split(options.flags)]
    wrong, outputs = 0, []
    print(f"{'program':32} {'compiles':>10} {'runs':>10}  result")
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            executable = Path(folder) / program.stem
            command = [*common, *options_in(program), *shlex.split(more.get(program.stem, "")), str(program), "-o", str(executable),
                       "-lz", "-lzip", "-lpng", "-pthread"]
            status, output, compile_seconds = run(command, options.seconds, folder)
            ran, run_seconds = False, 0.0
            if status == 0:
                status, output, run_seconds = run([str(executable)], options.seconds, folder)
                ran = True
                executable.unlink()
            allowed = program.stem in (options.may_fail if ran else options.may_not_compile)
            result = word_for(status) if ran else "does not compile"
            if status != 0:
                wrong += not allowed
                result += ", as it may" if allowed else ""
                outputs.append(f"== {program.stem}\n{output[-2000:].rstrip()}")
            print(f"{program.stem:32} {compile_seconds:8.1f} s {run_seconds:8.1f} s  {result}", flush=True)
    print(f"{len(programs)} programs, {wrong} with a fault")
    print("\n".join(outputs))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
