#!/usr/bin/env python3
"""No type has one name in tilewright and in one of its inner namespaces: which of the two is meant would depend on what is
included before."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "docs"))
from declarations import closing, declarations, masked, outside_of_namespaces  # noqa: E402


INNER = re.compile(r"^namespace (?:\w+::)*(?:detail|internal)(?:::\w+)* \{", re.MULTILINE)


def inner_namespaces(text):
    mask = masked(text)
    for match in INNER.finditer(mask):
        yield text[match.end():closing(mask, match.end() - 1)]


def types(text):
    """Names of the types that the text declares with a body, or as an alias."""
    for each in declarations(text):
        if each.type and each.body is not None and "concept" not in each.head:
            yield each.name
        elif match := re.match(r"(?:template <.*> )?using (\w+) =", each.head):
            yield match[1]


def main():
    places = {}
    for header in sorted((PROJECT / "include/tilewright").rglob("*.hpp")):
        text = header.read_text()
        texts = {"tilewright": [outside_of_namespaces(text)],
                 "inner": list(inner_namespaces(text))}
        for place, parts in texts.items():
            for name in (name for part in parts for name in types(part)):
                places.setdefault(name, {}).setdefault(place, header.relative_to(PROJECT))
    if not any("inner" in found for found in places.values()):
        sys.exit("no inner types found")
    twice = [f"{name}: in {found['tilewright']} and, in an inner namespace, in {found['inner']}"
             for name, found in places.items() if len(found) == 2]
    print("\n".join(twice) or f"{len(places)} types: none has the name of another in an inner namespace")
    sys.exit(bool(twice))


if __name__ == "__main__":
    main()
