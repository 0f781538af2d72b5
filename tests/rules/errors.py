#!/usr/bin/env python3
"""Each error that docs/generated/ops/ lists is what some program of tests/fail expects from the compiler, or an op's file in tests/ops:
of one op at least, where several ops have the same check."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGES = PROJECT / "docs" / "generated" / "ops"
PROGRAMS = PROJECT / "tests" / "fail"


def listed_errors():
    """By text without the op: the functions with that error."""
    errors, function = {}, ""
    for line in (line for page in sorted(PAGES.glob("*.md")) for line in page.read_text().splitlines()):
        if match := re.fullmatch(r"### (\w+)", line):
            function = match[1]
        elif match := re.fullmatch(r"  - `([^`]*)`", line):  # the values of faults have other texts around them
            op, separator, text = match[1].partition(": ")
            errors.setdefault(text if separator else op, []).append(function)
    return errors


def expected_texts():
    """Of each case, and of each whole program, as one line; of each file of tests/ops."""
    yield from (re.sub(r'"\s+"', "", program.read_text()) for program in PROGRAMS.with_name("ops").rglob("*.hpp"))
    for program in PROGRAMS.rglob("*.cpp"):
        text = program.read_text()
        for case in re.split(r"^// CASE ", text, flags=re.MULTILINE)[1:] or [text]:
            yield " ".join(re.findall(r"^// expect(?:-in-source)?: (.*)$", case, re.MULTILINE))


def main():
    errors, expected = listed_errors(), list(expected_texts())
    if not errors or not expected:
        sys.exit(f"no errors in {PAGES}, or no cases in {PROGRAMS}")
    missing = []
    for text, functions in errors.items():
        parts = text.removesuffix("…").replace("'", "`").split("…")  # as the compiler shows quotes; advice may follow
        pattern = re.compile(": " + ".+?".join(map(re.escape, parts)))
        if not any(pattern.search(case) for case in expected):
            missing.append(f"{PROGRAMS}, tests/ops: no case expects `{text}`, an error of {', '.join(functions)}")
    print("\n".join(missing) or f"{len(errors)} texts of errors: each has a case")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
