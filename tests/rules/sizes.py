#!/usr/bin/env python3
"""A header of the library has at most 400 lines, and a line of a page 130 columns, if it is not of a table, code, or a page that
is generated. TOO_LONG and TOO_WIDE name what still has more; the test fails when one has not.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include" / "tilewright"
PAGES = PROJECT / "docs"
MOST_LINES, MOST_COLUMNS = 400, 130
TOO_LONG = set()
TOO_WIDE: set[str] = set()
GENERATED = {"ops.md", "reference.md", "tested-ops.md"}


def columns_of(page):
    """The length of the longest line outside of code and tables."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return max(len(line) for line in text.splitlines() if not line.lstrip().startswith("|"))


def beyond(sizes, most, unit, exceptions, name_of_exceptions):
    """What is larger than `most` without being an exception, and exceptions that are not."""
    for name, size in sizes.items():
        if size > most and name not in exceptions:
            yield f"{name}: {size} {unit}: at most {most} expected"
    for name in sorted(exceptions):
        if sizes.get(name, 0) <= most:
            yield f"{name}: take it from {name_of_exceptions} in {__file__}"


def main():
    lines = {str(path.relative_to(LIBRARY)): len(path.read_text().splitlines()) for path in sorted(LIBRARY.rglob("*.hpp"))}
    columns = {page.name: columns_of(page) for page in sorted(PAGES.glob("*.md")) if page.name not in GENERATED}
    problems = [*beyond(lines, MOST_LINES, "lines", TOO_LONG, "TOO_LONG"),
                *beyond(columns, MOST_COLUMNS, "columns", TOO_WIDE, "TOO_WIDE")]
    print("\n".join(problems) or f"{len(lines)} headers of at most {max(lines.values())} lines, {len(columns)} pages of at most "
                                 f"{MOST_COLUMNS} columns")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
