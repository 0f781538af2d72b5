#!/usr/bin/env python3
"""Compiles programs that must not compile, and looks for the reasons in the compiler's output.

A file holds cases and, outside of them, what they have in common:

    // CASE inner_dimensions
    // expect: matmul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ
    #ifdef CASE_inner_dimensions
    ...
    #endif

A case may also say

    // flags: -fno-exceptions         further options; such a case is compiled without the precompiled header
    // compiler: GCC                  the one compiler, of GCC and Clang, that it is for
    // expect-in-source: text         as expect, in a line of the library's source that the compiler shows

With CASE_<name> defined the file must fail to compile, and every expected text must stand in the output. With none
defined it must compile.

With --precompile HEADER --into FILE it only writes FILE, which includes the header, and its precompiled form; cases that are
given --precompiled FILE begin with it.
"""

import argparse
import functools
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# Where a message continues that Clang prints in pieces: error<Message<3>{"abc"}, tilewright::Message<2>{"de"}>.
PIECE_BORDER = re.compile(r'"\},\s*(tilewright::)?Message<\d+>\{"')

# By whether the compiler is Clang.
NO_CARETS = {True: "-fno-caret-diagnostics", False: "-fno-diagnostics-show-caret"}


@dataclass
class Case:
    expected: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    compiler: str = ""
    shows_source: bool = False


def parse(source):
    """The cases by name."""
    cases = {}
    for line in source.read_text().splitlines():
        if match := re.fullmatch(r"\s*// CASE (\w+)\s*", line):
            name = match[1]
            if name in cases:
                sys.exit(f"{source}: two cases are named {name}")
            cases[name] = Case()
        elif match := re.fullmatch(r"\s*// (expect|expect-in-source|flags|compiler): (.*?)\s*", line):
            kind, text = match.groups()
            if not cases:
                sys.exit(f"{source}: '// {kind}:' before the first '// CASE'")
            if kind.startswith("expect"):
                cases[name].expected.append(text)
                cases[name].shows_source |= kind == "expect-in-source"
            elif kind == "flags":
                cases[name].flags += shlex.split(text)
            else:
                cases[name].compiler = text
    if not cases:
        sys.exit(f"{source}: no '// CASE name'")
    for name, case in cases.items():
        if not case.expected:
            sys.exit(f"{source}: case {name} has no '// expect: text'")
        if not re.search(rf"^#ifdef CASE_{name}$", source.read_text(), re.MULTILINE):
            sys.exit(f"{source}: case {name} has no '#ifdef CASE_{name}'")
    return cases


def compile_case(command, source, name):
    """Whether the case compiles, and what the compiler says."""
    define = [f"-DCASE_{name}"] if name else []
    result = subprocess.run([*command, *define, str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stdout


def check(command, precompiled, source, name, case):
    """What is wrong with the case, and the compiler's output; "" when all is well."""
    # Without carets, the output has no lines of the source, in which the expected text may stand.
    carets = [] if case.shows_source else [NO_CARETS[is_clang(command[0])]]
    compiles, output = compile_case([*command, *carets, *(case.flags or precompiled)], source, name)
    if name is None:
        return ("" if compiles else "does not compile without a case"), output
    if compiles:
        return "compiles", output
    joined = PIECE_BORDER.sub("", output)
    missing = [text for text in case.expected if text not in output and text not in joined]
    return "".join(f"\n  not in the output: {text}" for text in missing), output


def precompile(command, header, into):
    """Writes a file that includes the header, and beside it the precompiled header that both compilers look for."""
    into.write_text(f"#include <{header}>\n")
    form = ".pch" if is_clang(command[0]) else ".gch"
    sys.exit(subprocess.run([*command, "-x", "c++-header", str(into), "-o", f"{into}{form}"]).returncode)


@functools.cache
def is_clang(compiler):
    return "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


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
    compiler = "Clang" if is_clang(options.compiler) else "GCC"
    command.append("-fsyntax-only")
    precompiled = ["-Winvalid-pch", "-include", str(options.precompiled)] if options.precompiled else []
    jobs = [(source, name, case)
            for source in options.sources
            for name, case in [(None, Case()), *parse(source).items()]
            if case.compiler in ("", compiler)]
    failures = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (source, name, _), (problem, output) in zip(jobs, pool.map(lambda job: check(command, precompiled, *job), jobs)):
            title = f"{source.stem}: {name or 'without a case'}"
            print(f"FAIL {title}: {problem}\n{output}" if problem else f"ok   {title}", flush=True)
            failures += bool(problem)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
