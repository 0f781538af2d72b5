#!/usr/bin/env python3
"""Compiles programs that must not compile, and looks for the reasons in the compiler's output.

A file holds what its cases have in common, and then the cases, each up to the next one or the end of the file:

    // CASE inner_dimensions
    // expect: matmul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ
    Traced<[](Tensor x) { return x.matmul(zeros(x, {783, 512})); }> inner_dimensions;

All cases of a file are compiled together. Each must have errors, which name its lines, and every expected text must stand in
one of them; no error may be of none.

A case may also say

    // expect-in-source: text         as expect, in a line of the source that the compiler shows
    // expect-place: text             an error names the case's first line of code that has the text

If cases need options of their own, each is in `#ifdef CASE_<name>`, in a file of such cases. It is compiled alone, with that
defined, and must fail to compile; with none defined the file must compile. Such a case may also say

    // flags: -fno-exceptions         further options
    // compiler: GCC                  the one compiler, of GCC and Clang, that it is for
    // precompiled: no                without the precompiled header, which the flags do not fit
    // most-lines: 5                  the compiler prints at most 5 lines

A file without cases, of users/, is a whole program of a user with one mistake. It is compiled alone, and says only

    // expect: text

The first error must have the texts, and stand within the first 16 lines of the output, without a list of types up to there; and
there may be at most three errors. A program of a page, which tests/docs/extract.py writes, says it for each compiler instead:

    // first-GCC: text                in the first error of GCC, also first-Clang
    // later-GCC: text                anywhere in the output, also later-Clang

With --precompile HEADER --into FILE it only writes FILE, which includes the header, and its precompiled form; cases that are
given --precompiled FILE begin with it.
"""

import argparse
import functools
import os
import re
import shlex
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# Where a message continues that Clang prints in pieces: error<Message<3>{"abc"}, tilewright::Message<2>{"de"}>.
PIECE_BORDER = re.compile(r'"\},\s*(tilewright::)?Message<\d+>\{"')

ERROR = re.compile(r"(^|: )(fatal )?error: ")
# What compilers print before an error: the files that include its file, and GCC what it is in.
INCLUDED = re.compile(r"^In file included from | +from ")
CONTEXT = re.compile(r": In |: At global scope:|: +(recursively )?required |: +in .constexpr. expansion")
EXPANSION = re.compile(r": +in .constexpr. expansion")
# Since version 14 GCC says first that an assertion is not constant, and then, as another error, why.
NOT_CONSTANT = re.compile(r"error: non-constant condition for static assertion")
SHOWN_SOURCE = re.compile(r"^ *\d* \|")
TYPE_LIST = re.compile(r"(integer|index)_sequence")
# What a program with one mistake may print: errors, and lines up to the first of them.
MOST_ERRORS = 3
MOST_LINES_TO_FIRST = 16


@dataclass
class Case:
    name: str
    begin: int
    end: int = sys.maxsize
    alone: bool = False
    has_code: bool = False
    expected: list = field(default_factory=list)
    expected_in_source: list = field(default_factory=list)
    expected_later: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    compiler: str = ""
    precompiled: bool = True
    most_lines: int = sys.maxsize


def parse(source):
    cases, lines = [], source.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if match := re.fullmatch(r"\s*// CASE (\w+)\s*", line):
            if cases:
                cases[-1].end = number
            cases.append(Case(match[1], number))
        elif match := re.fullmatch(r"\s*// (expect|expect-in-source|expect-place|flags|compiler|precompiled|most-lines): (.*?)\s*", line):
            kind, text = match.groups()
            if not cases:
                sys.exit(f"{source}: '// {kind}:' before the first '// CASE'")
            if kind == "expect":
                cases[-1].expected.append(text)
            elif kind == "expect-in-source":
                cases[-1].expected_in_source.append(text)
            elif kind == "expect-place":
                code = (place for place, shown in enumerate(lines[number:], number + 1) if text in shown and "// expect" not in shown)
                cases[-1].expected.append(f"{source.name}:{next(code, 0)}:")
            elif kind == "flags":
                cases[-1].flags += shlex.split(text)
            elif kind == "precompiled":
                cases[-1].precompiled = text != "no"
            elif kind == "most-lines":
                cases[-1].most_lines = int(text)
            else:
                cases[-1].compiler = text
        elif cases and line == f"#ifdef CASE_{cases[-1].name}":
            cases[-1].alone = True
        elif cases and not cases[-1].has_code:
            if line.startswith("// "):
                sys.exit(f"{source}:{number}: '// expect: ...', or code, expected")
            cases[-1].has_code = True
    names = [case.name for case in cases]
    for case in cases:
        if names.count(case.name) > 1:
            sys.exit(f"{source}: two cases are named {case.name}")
        if not case.expected and not case.expected_in_source:
            sys.exit(f"{source}: case {case.name} has no '// expect: text'")
        if case.alone != cases[0].alone:
            sys.exit(f"{source}: {cases[0].name} and {case.name}: '#ifdef CASE_<name>' in both, or in none, expected")
        if not case.alone and (case.flags or case.compiler or not case.precompiled):
            sys.exit(f"{source}: case {case.name} has flags, a compiler or 'precompiled: no': '#ifdef CASE_{case.name}' expected")
    if not cases:
        sys.exit(f"{source}: no '// CASE name'")
    return cases


def program_case(source, compiler):
    """The expectations of a user's whole program; None for a file of cases."""
    text = source.read_text()
    if re.search(r"^\s*// CASE ", text, re.MULTILINE):
        return None
    expected = re.findall(rf"^// (?:expect|first-{compiler}): (.*?)\s*$", text, re.MULTILINE)
    if not expected:
        sys.exit(f"{source}: neither '// CASE name' nor '// expect: text' nor '// first-{compiler}: text'")
    later = re.findall(rf"^// later-{compiler}: (.*?)\s*$", text, re.MULTILINE)
    return Case(source.stem, 1, expected=expected, expected_later=later)


def compile_file(command, source):
    """The exit status of the compiler, and what it says."""
    result = subprocess.run([*command, str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", env={**os.environ, "LC_ALL": "C"})
    return result.returncode, result.stdout


def split_errors(output, source):
    """The output in parts of one error each, its line and those that say where it is; and the lines of the source that each
    names. An error that does not say where it is comes from the same place as the one before."""
    parts, has_error, reason_follows = [[]], False, False
    for line in output.splitlines():
        is_error = bool(ERROR.search(line))
        if reason_follows and EXPANSION.search(line):
            has_error = False
        if is_error:
            reason_follows = bool(NOT_CONSTANT.search(line))
        if has_error and (is_error or INCLUDED.match(line) or CONTEXT.search(line)):
            parts.append([])
            has_error = False
        parts[-1].append(line)
        has_error |= is_error
    place = re.compile(rf"(?:^|[\s/]){re.escape(source.name)}:(\d+)[:,]", re.MULTILINE)
    lines = set()
    for part in parts:
        said = [line for line in part if not INCLUDED.match(line)]
        named = {int(number) for number in place.findall("\n".join(said))}
        if named or any(CONTEXT.search(line) for line in said):
            lines = named
        yield "\n".join(part), lines


def missing_texts(case, output):
    """What of the expected texts is not in the output. A line of source that the compiler shows does not count."""
    said = "\n".join(line for line in output.splitlines() if not SHOWN_SOURCE.match(line))
    joined = PIECE_BORDER.sub("", said)
    missing = [text for text in case.expected if text not in said and text not in joined]
    missing += [text for text in case.expected_in_source if text not in output]
    return "".join(f"\n  not in the output: {text}" for text in missing)


def check_alone(command, source, case):
    """By case, or None for none: what is wrong with it, and the compiler's output."""
    if case is None:
        status, output = compile_file(command, source)
        return [("without a case", "" if status == 0 else "does not compile", output)]
    status, output = compile_file([*command, f"-DCASE_{case.name}"], source)
    problem = "compiles" if status == 0 else missing_texts(case, output)
    if len(output.splitlines()) > case.most_lines:
        problem += f"\n  more than {case.most_lines} lines"
    return [(case.name, problem, output)]


def check_together(command, source, cases):
    """The same of all cases that are compiled together, and of the rest of the file."""
    _, output = compile_file(command, source)
    by_case, rest = {case.name: [] for case in cases}, []
    for part, lines in split_errors(output, source):
        owners = [case for case in cases if any(case.begin <= line < case.end for line in lines)]
        for case in owners:
            by_case[case.name].append(part)
        if not owners and ERROR.search(part):
            rest.append(part)
    results = [("without a case", "has errors" if rest else "", "\n".join(rest))]
    for case in cases:
        said = "\n".join(by_case[case.name])
        results.append((case.name, missing_texts(case, said) if ERROR.search(said) else "compiles", said))
    return results


def first_error_problems(case, output):
    """What is wrong with the output for a program of one mistake."""
    lines = output.splitlines()
    errors = [number for number, line in enumerate(lines, 1) if ERROR.search(line)]
    if not errors:
        return "\n  no error"
    first = errors[0]
    problem = missing_texts(case, lines[first - 1])
    words = " ".join(output.split())
    problem += "".join(f"\n  not in the output: {text}" for text in case.expected_later if text not in words)
    if first > MOST_LINES_TO_FIRST:
        problem += f"\n  the first error is in line {first} of the output: at most {MOST_LINES_TO_FIRST} expected"
    if len(errors) > MOST_ERRORS:
        problem += f"\n  {len(errors)} errors: at most {MOST_ERRORS} expected"
    if any(TYPE_LIST.search(line) for line in lines[:first]):
        problem += "\n  a list of types before the first error, or in it"
    return problem


def check_program(command, source, case):
    """A whole program, as check_alone has it."""
    status, output = compile_file(command, source)
    return [("whole program", "compiles" if status == 0 else first_error_problems(case, output), output)]


def precompile(command, header, into):
    """Writes a file that includes the header, and beside it the precompiled header that both compilers look for."""
    into.write_text(f"#include <{header}>\n")
    form = ".pch" if is_clang(command[0]) else ".gch"
    sys.exit(subprocess.run([*command, "-x", "c++-header", str(into), "-o", f"{into}{form}"]).returncode)


@functools.cache
def is_clang(compiler):
    return "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def jobs_of(command, precompiled, source):
    """Functions, of which each runs the compiler once and returns its results."""
    compiler = "Clang" if is_clang(command[0]) else "GCC"
    with_header = [*command, *precompiled]
    if case := program_case(source, compiler):
        yield functools.partial(check_program, with_header, source, case)
        return
    cases = parse(source)
    if not cases[0].alone:
        yield functools.partial(check_together, with_header, source, cases)
        return
    yield functools.partial(check_alone, with_header, source, None)
    for case in cases:
        if case.compiler in ("", compiler):
            yield functools.partial(check_alone, [*(with_header if case.precompiled else command), *case.flags], source, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="", help="as in a shell; write --flags=...")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--precompile", metavar="HEADER")
    parser.add_argument("--into", type=Path, metavar="FILE")
    parser.add_argument("--precompiled", type=Path, metavar="FILE")
    parser.add_argument("sources", nargs="*", type=Path, metavar="file")
    options = parser.parse_args()

    command = [options.compiler, *shlex.split(options.flags)]
    if options.precompile:
        precompile(command, options.precompile, options.into)
    command += ["-fsyntax-only", "-ferror-limit=0" if is_clang(options.compiler) else "-fmax-errors=0"]
    precompiled = ["-Winvalid-pch", "-include", str(options.precompiled)] if options.precompiled else []
    jobs = [(source, job) for source in options.sources for job in jobs_of(command, precompiled, source)]
    failures, lengths = 0, []
    with ThreadPoolExecutor(options.jobs) as pool:
        for (source, _), results in zip(jobs, pool.map(lambda job: job[1](), jobs)):
            for name, problem, output in results:
                title = f"{source.stem}: {name}"
                print(f"FAIL {title}: {problem}\n{output}" if problem else f"ok   {title}", flush=True)
                failures += bool(problem)
                lengths += [len(output.splitlines())] if output and name != "without a case" else []
    if lengths:
        print(f"{statistics.median(lengths):.0f} lines in the median of {len(lengths)} errors")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
