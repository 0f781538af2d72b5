#!/usr/bin/env python3
"""A test with the label `strict` has a TestSession, in its source or in a header of tests/: CTest runs that in strict mode, too.
All its sessions for simulated IPUs are such.
"""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DEFINITION = TESTS / "support/test_session.hpp"
LABELS = re.compile(r"^// labels:.*\bstrict\b", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([\w./]+\.hpp)"$', re.MULTILINE)


def sources_of(test):
    """The test and what it includes of tests/, each once."""
    found = [test]
    for source in found:
        headers = [(source.parent / name).resolve() for name in INCLUDE.findall(source.read_text())]
        found += [header for header in dict.fromkeys(headers)
                  if header.is_relative_to(TESTS) and header.exists() and header not in [*found, DEFINITION]]
    return found


def target_of(text, begin):
    """What the template arguments from `begin` have as a target, or None."""
    depth, commas = 1, []
    for at in range(begin, len(text)):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(text[at], 0)
        if depth == 1 and text[at] == ",":
            commas.append(at)
        if depth == 0:
            return text[commas[-1] + 1:at].strip() if commas else None
    return None


def fast_sessions(source):
    """The lines that make a session that strict mode may be meant for, but does not reach."""
    for number, line in enumerate(source.read_text().splitlines(), 1):
        for match in re.finditer(r"tw::Session<", line):
            target = target_of(line, match.end())
            if target and not target.startswith("tw::cpu") and not re.search(r"static_assert|::plan\b", line):
                yield f"{source.name}:{number}: a tw::Session for {target}: a TestSession expected"


def main():
    tests = [test for test in sorted((TESTS / "run").rglob("*.cpp")) if LABELS.search(test.read_text())]
    problems = [f"{test.name}: label `strict`, and no TestSession" for test in tests
                if not any("TestSession<" in source.read_text() for source in sources_of(test))]
    for source in sorted({source for test in tests for source in sources_of(test)}):
        problems += fast_sessions(source)
    if not tests:
        problems.append("no test has the label `strict`")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
