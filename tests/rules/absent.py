#!/usr/bin/env python3
"""No page says that something is absent which the reference lists: `there is no`, `has no` and the like before a name in code marks.

Names are the headings of docs/ops.md, docs/reference*.md and docs/generated/. Sentences about another library may say what it lacks.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CODE = r"`[^`\n]+`"
# `there is no X`, `has no X, Y or Z`, `there is neither X nor Y`
ABSENT = re.compile(rf"\b(?:there\s+(?:is|are)|has|have)\s+(?:no|neither)\s+({CODE}(?:(?:,|,?\s+(?:or|nor|and))(?:\s+no)?\s+{CODE})*)",
                    re.IGNORECASE)
OTHERS = re.compile(r"\b(?:PyTorch|PopXL|PopART|Poplar|NumPy|xtensor|xsimd|Hana|GCC|Clang)\s+(?:\w+\s+)?$")
HEADING = re.compile(r"^#{3,} +`?(\w+)`?\s*$", re.MULTILINE)


def names_of_reference(folder):
    pages = [folder / "ops.md", *folder.glob("reference*.md"), *folder.glob("generated/**/*.md")]
    return {name for page in pages if page.exists() for name in HEADING.findall(page.read_text())}


def identifier(code):
    """`tw::ops::gelu(x)` names gelu."""
    match = re.match(r"(?:[a-z_]\w*::)*(\w+)", code.strip("`"))
    return match[1] if match else ""


def problems(text, names):
    """(line number, name) of each name of the reference that a page's text says to be absent."""
    text = re.sub(r"^```.*?^```$", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    for match in ABSENT.finditer(text):
        if OTHERS.search(text, max(0, match.start() - 40), match.start()):
            continue
        for code in re.findall(CODE, match[1]):
            if identifier(code) in names:
                yield text.count("\n", 0, match.start()) + 1, identifier(code)


def main():
    names = names_of_reference(PROJECT / "docs")
    if not {"gelu", "Session", "Linear"} <= names:
        sys.exit("headings of the reference: gelu, Session and Linear expected among them")
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "examples").rglob("*.md"),
             *(PROJECT / "benchmarks").glob("*.md")]
    found = [f"{page.relative_to(PROJECT)}:{line}: no `{name}`: the reference lists it" for page in sorted(pages)
             for line, name in problems(page.read_text(), names)]
    print("\n".join(found) or f"{len(pages)} pages: none of {len(names)} names of the reference is said to be absent")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
