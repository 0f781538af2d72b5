#!/usr/bin/env python3
"""Passes of the planner that all machines share ask at most three times whether the target is a simulated IPU, and say why. The
passes of each planner are those that docs/extend/adding-a-pass.md lists.

Headers of lower/ipu/ and verify/tiles.hpp are not shared, so they are not counted. Nor is the one test in lower.hpp, which chooses
the planner.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LOWER = PROJECT / "include/tilewright/lower"
PAGE = PROJECT / "docs/extend/adding-a-pass.md"
TEST = re.compile(r"!target_?\.ipu\b|\btarget_?\.ipu *(==|!=|\?|&&|\|\||\))")
MOST = 3


def tests_of(header):
    """The lines that ask, with their numbers."""
    if header.parent.name == "ipu" or header == LOWER / "verify/tiles.hpp":
        return []
    return [(number, line) for number, line in enumerate(header.read_text().splitlines(), 1) if TEST.search(line)]


def passes_in(header):
    """The list of passes of a planner."""
    return re.findall(r"Pass::(\w+)", re.search(r"Pass passes\[\] = \{(.*?)\};", header.read_text(), re.DOTALL)[1])


def passes_on_page():
    """The two columns of the list on the page."""
    lines = re.search(r"^HostPlanner +IpuPlanner\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[1].splitlines()
    column = lines[0].rindex("flatten")
    return [[name for line in lines if (name := part(line))]
            for part in (lambda line: line[:column].strip(), lambda line: line[column:].strip())]


def main():
    problems, count = [], 0
    for planner, listed in zip(("host/planner", "ipu/planner"), passes_on_page()):
        if (passes := passes_in(LOWER / f"{planner}.hpp")) != listed:
            problems.append(f"{PAGE.name} lists {', '.join(listed)}: {', '.join(passes)}, as in {planner}.hpp, expected")
    for header in sorted(LOWER.rglob("*.hpp")):
        for number, line in tests_of(header):
            where = f"{header.relative_to(LOWER.parents[2])}:{number}"
            if "//" not in line:
                problems.append(f"{where}: asks for a simulated IPU: a comment on the line with the reason expected")
            count += header.name != "lower.hpp"
    if count > MOST:
        problems.append(f"passes that machines share ask {count} times for a simulated IPU: at most {MOST} times expected")
    for problem in problems:
        print(problem)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
