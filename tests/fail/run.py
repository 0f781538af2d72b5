#!/usr/bin/env python3
"""Compiles programs that must not compile, and looks for the reasons in the compiler's output.

A file holds cases and, outside of them, what they have in common:

    // CASE inner_dimensions
    // expect: matmul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ
    #ifdef CASE_inner_dimensions
    ...
    #endif

With CASE_<name> defined the file must fail to compile, and every expected text must stand in the output. With none
defined it must compile.

With --precompile HEADER --into FILE it only writes FILE, which includes the header, and its precompiled form; cases that are
given --precompiled FILE begin with it.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Where a message continues that Clang prints in pieces: error<Message<3>{"abc"}, tilewright::Message<2>{"de"}>.
PIECE_BORDER = re.compile(r'"\},\s*(tilewright::)?Message<\d+>\{"')


def parse(source):
    """The expected texts of each case."""
    cases = {}
    for line in source.read_text().splitlines():
        if match := re.fullmatch(r"\s*// CASE (\w+)\s*", line):
            name = match[1]
            if name in cases:
                sys.exit(f"{source}: two cases are named {name}")
            cases[name] = []
        elif match := re.fullmatch(r"\s*// expect: (.*?)\s*", line):
            if not cases:
                sys.exit(f"{source}: '// expect:' before the first '// CASE'")
            cases[name].append(match[1])
    if not cases:
        sys.exit(f"{source}: no '// CASE name'")
    for name, expected in cases.items():
        if not expected:
            sys.exit(f"{source}: case {name} has no '// expect: text'")
        if not re.search(rf"^#ifdef CASE_{name}$", source.read_text(), re.MULTILINE):
            sys.exit(f"{source}: case {name} has no '#ifdef CASE_{name}'")
    return cases


def compile_case(command, source, case):
    """Whether the case compiles, and what the compiler says."""
    define = [f"-DCASE_{case}"] if case else []
    result = subprocess.run([*command, *define, str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stdout


def check(command, source, case, expected):
    """What is wrong with the case, and the compiler's output; "" when all is well."""
    compiles, output = compile_case(command, source, case)
    if case is None:
        return ("" if compiles else "does not compile without a case"), output
    if compiles:
        return "compiles", output
    joined = PIECE_BORDER.sub("", output)
    missing = [text for text in expected if text not in output and text not in joined]
    return "".join(f"\n  not in the output: {text}" for text in missing), output


def precompile(command, header, into):
    """Writes a file that includes the header, and beside it the precompiled header that both compilers look for."""
    into.write_text(f"#include <{header}>\n")
    form = ".pch" if "clang" in version_of(command[0]) else ".gch"
    sys.exit(subprocess.run([*command, "-x", "c++-header", str(into), "-o", f"{into}{form}"]).returncode)


def version_of(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="", help="as in a shell; write --flags=...")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--precompile", metavar="HEADER")
    parser.add_argument("--into", type=Path, metavar="FILE")
    parser.add_argument("--precompiled", type=Path, metavar="FILE")
    parser.add_argument("sources", nargs="*", type=Path, metavar="file")
    options = parser.parse_args()

    command = [options.compiler, *shlex.split(options.flags)]
    if options.precompile:
        precompile(command, options.precompile, options.into)
    # Without carets, the output has no lines of the source, in which the expected text may stand.
    no_carets = "-fno-caret-diagnostics" if "clang" in version_of(options.compiler) else "-fno-diagnostics-show-caret"
    command += ["-fsyntax-only", no_carets]
    if options.precompiled:
        command += ["-Winvalid-pch", "-include", str(options.precompiled)]
    jobs = [(source, case, expected)
            for source in options.sources
            for case, expected in [(None, []), *parse(source).items()]]
    failures = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (source, case, _), (problem, output) in zip(jobs, pool.map(lambda job: check(command, *job), jobs)):
            name = f"{source.stem}: {case or 'without a case'}"
            print(f"FAIL {name}: {problem}\n{output}" if problem else f"ok   {name}", flush=True)
            failures += bool(problem)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
