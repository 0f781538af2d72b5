#!/usr/bin/env python3
"""What was measured stands only where a command writes it: in README.md and in pages of docs/, between `<!-- written by ./dev ... -->`
and `<!-- to here -->`. That holds for what compiling the README's program or an example costs, such as `18.5 s, 1.05 GB`, for times and
rates in a paragraph on them or on W1 to W9, the workloads of speed, and for lines of tables with figures of these. Only one page has
each such block.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WRITTEN = re.compile(r"^<!-- written by (\./dev [^\n]*?) -->\n.*?^<!-- to here -->\n", re.MULTILINE | re.DOTALL)
COST = re.compile(r"\d s(?:,| and)\s+\d+\.\d+ GB\b")
TIME = re.compile(r"\d (?:s|seconds|minutes|ms|us|it/s)\b|\d (?:steps|iterations|tokens|images) a second\b")
WORK = re.compile(r"\bW[1-9]\b")
LINE = re.compile(r"^\|[^\n]*\bW[1-9]\b[^\n]*\| *\d[\d,.]*(?: *\||[ ;])", re.MULTILINE)
PROGRAM = re.compile(r"README's\s+program|program\s+above|examples/[\w/]+\.cpp")


def check(texts):
    """What is wrong in pages by name, one line each."""
    pages = {}
    for name, text in texts.items():
        for match in WRITTEN.finditer(text):
            pages.setdefault(match[1], []).append(name)
        others = WRITTEN.sub(lambda match: "\n" * match[0].count("\n"), text)
        for match in [*COST.finditer(others), *TIME.finditer(others), *LINE.finditer(others)]:
            around = re.split(r"\n\n|\n(?=- )", others[:match.end()])[-1] + re.split(r"\n\n|\n(?=- )", others[match.end():])[0]
            if not PROGRAM.search(around) and not WORK.search(around):
                continue
            yield f"{name}:{others.count(chr(10), 0, match.start()) + 1}: {match[0]}: a figure that a command writes expected"
    for command, names in pages.items():
        if len(names) > 1:
            yield f"{', '.join(names)}: written by {command}: on one page expected"


def main():
    paths = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
    texts = {str(path.relative_to(PROJECT)): path.read_text() for path in paths}
    problems = list(check(texts))
    print("\n".join(problems) or f"figures are in {sum(len(WRITTEN.findall(text)) for text in texts.values())} blocks that "
                                 "commands write, and nowhere else")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
