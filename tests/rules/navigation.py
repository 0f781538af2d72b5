#!/usr/bin/env python3
"""docs/index.md, which is the navigation of the site, lists each page of docs/ once, and nothing twice."""

import collections
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "docs" / "site"))
import navigation  # noqa: E402


def problems_of(pages, entries):
    """pages: those of docs/; entries: what the navigation lists, by paths within the project."""
    for page in pages:
        if page not in entries:
            name = Path(page).relative_to("docs")
            yield (f"{page}: docs/index.md, the navigation of the site, does not list it: "
                   f"a line `- [Title]({name}): what one finds there` expected in one of its parts")
    for entry, count in collections.Counter(entries).items():
        if count > 1:
            yield f"docs/index.md lists {entry} {count} times: once expected"


def main():
    index = navigation.INDEX.relative_to(PROJECT)
    entries = [path for _, _, _, path in navigation.entries()]
    entries += [child for path in entries for child in navigation.children(path)]
    pages = [str(path.relative_to(PROJECT)) for path in sorted((PROJECT / "docs").glob("**/*.md")) if path != navigation.INDEX]
    problems = list(problems_of(pages, entries))
    listed = len(re.findall(r"^- \[", navigation.INDEX.read_text(), re.MULTILINE))
    if listed != len(list(navigation.entries())):
        problems.append(f"{index}: {listed} lines begin with `- [`: only `- [Title](page.md): ...` expected, each in a part")
    problems += [] if list(problems_of(["docs/no-such-page.md"], entries)) else ["a page that is not listed is not noticed"]
    print("\n".join(problems) or f"{len(pages)} pages are in the navigation")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
