#!/usr/bin/env python3
"""A class of the library has at most 30 public members, each overload counted; the table of docs/how-it-works/architecture.md says which may have
how many, and why."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "docs"))
from declarations import arguments, closing, declarations, masked, without_templates  # noqa: E402

LIBRARY = PROJECT / "include" / "tilewright"
PAGE = PROJECT / "docs/how-it-works/architecture.md"
MOST = 30
HEAD = re.compile(r"^[ \t]*(?:template *<.*> *)?(struct|class) +(?:\[\[\w+\]\] *)?(\w+)\b[^;{}()]*(?:\([^;{}]*\))?[^;{}()]*\{", re.MULTILINE)


def exceptions():
    """The table's rows: how many public members a class has at most."""
    return {name: int(most) for name, most in re.findall(r"^\| `(\w+)` \| (\d+) \| \w.*\|$", PAGE.read_text(), re.MULTILINE)}


def public_parts(kind, body):
    """What stands in a class where members are public."""
    access, start, depth = {"struct": "public", "class": "private"}[kind], 0, 0
    for match in re.finditer(r"[{}()]|\b(public|private|protected):(?!:)", masked(body)):
        if match[0] in "{}()":
            depth += 1 if match[0] in "{(" else -1
        elif depth == 0:
            if access == "public":
                yield body[start:match.start()]
            access, start = match[1], match.end()
    if access == "public":
        yield body[start:]


def without_arguments(head):
    """A declaration without `<...>`, whose commas separate no members."""
    while (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    return head


def count_members(kind, body):
    count = 0
    for part in public_parts(kind, body):
        for declaration in declarations(part):
            head = without_templates(declaration.head).strip()
            if not head or re.match(r"(static_assert|friend)\b", head):
                continue
            count += 1 if declaration.type or declaration.is_function else len(arguments(without_arguments(head)))
    return count


def classes(text):
    mask = masked(text)
    for match in HEAD.finditer(mask):
        yield match[1], match[2], text[match.end():closing(mask, match.end() - 1)]


def main():
    allowed, problems, largest, total = exceptions(), [], {}, 0
    for header in sorted(LIBRARY.rglob("*.hpp")):
        for kind, name, body in classes(header.read_text()):
            count = count_members(kind, body)
            total += 1
            largest[name] = max(count, largest.get(name, 0))
            if count > (most := allowed.get(name, MOST)):
                problems.append(f"{header.relative_to(PROJECT)}: {name} has {count} public members: at most {most} expected")
    for name, most in allowed.items():
        if not MOST < largest.get(name, 0) == most:
            problems.append(f"{PAGE.name} says that {name} has {most} public members: {largest.get(name, 0)}, if it is above {MOST}, "
                            "expected")
    print("\n".join(problems) or f"{total} classes of at most {MOST} public members, but for {', '.join(allowed)}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
