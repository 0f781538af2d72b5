#!/usr/bin/env python3
"""A header of the library and a file of the report's page have at most 400 lines, and a line of a page of docs/ has 130 columns, if
it is not of a table or code. A cell of a table there has at most 40 words. What a script makes of other files may have more. A folder of include/, tests/run and tests/static has
at most 30 sources. TOO_LONG and TOO_WIDE name what still has more; the test fails when one has not.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include" / "tilewright"
REPORT = PROJECT / "cmake" / "report"
PAGES = PROJECT / "docs"
MOST_LINES, MOST_COLUMNS, MOST_SOURCES, MOST_WORDS = 400, 130, 30, 40
TOO_LONG = set()
TOO_WIDE: set[str] = set()
GENERATED = {"profile/report_page.hpp"}


def lines_of(page):
    """The lines outside of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL).splitlines()


def columns_of(page):
    """The length of the longest line outside of code and tables."""
    return max(len(line) for line in lines_of(page) if not line.lstrip().startswith("|"))


def words_of_cells(page):
    """The number of words of each cell, without addresses of links, by how it begins."""
    cells = (cell for line in lines_of(page) if line.startswith("|") for cell in re.split(r"(?<!\\)\|", line))
    return {f"{page.relative_to(PROJECT)}: '{cell.strip()[:40]}'": len(re.sub(r"\]\([^)]*\)", "]", cell).split()) for cell in cells}


def beyond(sizes, most, unit, exceptions, name_of_exceptions):
    """What is larger than `most` without being an exception, and exceptions that are not."""
    for name, size in sizes.items():
        if size > most and name not in exceptions:
            yield f"{name}: {size} {unit}: at most {most} expected"
    for name in sorted(exceptions):
        if sizes.get(name, 0) <= most:
            yield f"{name}: take it from {name_of_exceptions} in {__file__}"


def main():
    files = {str(path.relative_to(folder)): path for folder, ending in ((LIBRARY, "hpp"), (REPORT, "js"), (REPORT, "css"))
             for path in sorted(folder.rglob(f"*.{ending}"))}
    lines = {name: len(path.read_text().splitlines()) for name, path in files.items() if name not in GENERATED}
    pages = [page for page in sorted(PAGES.rglob("*.md")) if "generated" not in page.parts]
    columns = {str(page.relative_to(PAGES)): columns_of(page) for page in pages}
    cells = {}
    for page in (*pages, PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "examples/README.md"):
        cells |= words_of_cells(page)
    folders = {str(folder.relative_to(PROJECT)): sum(path.suffix in (".hpp", ".cpp") for path in folder.iterdir())
               for top in ("include", "tests/run", "tests/static") for folder in (PROJECT / top, *(PROJECT / top).rglob("*")) if folder.is_dir()}
    problems = [*beyond(folders, MOST_SOURCES, "sources", set(), ""), *beyond(lines, MOST_LINES, "lines", TOO_LONG, "TOO_LONG"),
                *beyond(columns, MOST_COLUMNS, "columns", TOO_WIDE, "TOO_WIDE"), *beyond(cells, MOST_WORDS, "words of a cell", set(), "")]
    print("\n".join(problems) or f"{len(lines)} headers and files of the report of at most {max(lines.values())} lines, "
                                 f"{len(columns)} pages of at most {MOST_COLUMNS} columns, {len(folders)} folders of "
                                 f"at most {max(folders.values())} sources")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
