#!/usr/bin/env python3
"""What pages say about headers is so, for README.md and the pages of docs/ that are written by hand:

- A block of C++ that uses a name which tilewright/tilewright.hpp does not declare has, in it or before it on the page, an include
  of a header that does. Parts of examples have theirs in the example.
- A name that stands beside a header, "`Name` (`folder/name.hpp`)" or "`Name` in (or of) `name.hpp`", also as links, is in that
  header.
"""

import functools
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include" / "tilewright"
BLOCK = re.compile(r"(?:^<!-- ([^\n]*?) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:tilewright/)?([^>"]+\.hpp)[>"]', re.MULTILINE)
SHOWN = re.compile(r"<tilewright/([\w/]+\.hpp)>|`tilewright/([\w/]+\.hpp)`")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DECLARED = re.compile(  # in namespaces, whose members begin a line
    r"^(?:template <[^\n]*> *)?(?:(?:struct|class|enum class|enum|concept|union) (?:\[\[[^\n]*?\]\] )?(\w+)"
    r"|using (?:namespace )?(?:[\w:]*::)?(\w+)\b|namespace (?:[\w]+::)*(\w+)"
    r"|(?![ #/}{])[^\n(=]*?[\s&*](\w+)(?=\(| = |\{))", re.MULTILINE)
ROOTS = {"tilewright", "tw", "authoring", "ops", "collectives", "layers", "optim", "train", "data", "images", "distributed"}
NAMESPACES = ROOTS | {"var_updates", "math", "array_munging", "kernel", "literals", "internal"}
USED = re.compile(r"\b((?:\w+::)+)(\w+)")
HEADER = r"(?:`([\w/]+\.hpp)`|\[`?([\w/]+\.hpp)`?\]\([^)]*\))"
BESIDE = re.compile(r"`([^`\n]+)`\s+(?:\(|(?:in|of)\s+)" + HEADER)


@functools.cache
def all_headers():
    return sorted(LIBRARY.rglob("*.hpp"))


@functools.cache
def code_of(header):
    return COMMENT.sub("", header.read_text())


@functools.cache
def included(header):
    """The headers of the library that a header names."""
    result = []
    for name in INCLUDE.findall(header.read_text()):
        result += [path.resolve() for path in (LIBRARY / name, header.parent / name) if path.is_file()][:1]
    return result


@functools.cache
def closure(header):
    """A header and all headers of the library that it includes."""
    found, todo = set(), [header]
    while todo:
        each = todo.pop()
        if each in found:
            continue
        found.add(each)
        todo += included(each)
    return frozenset(found)


@functools.cache
def declarations():
    """The headers that declare each name."""
    result = {}
    for header in all_headers():
        for match in DECLARED.finditer(code_of(header)):
            result.setdefault(next(filter(None, match.groups())), set()).add(header)
    return result


def names_in(code):
    """Names of the library in a block: the first in `a::b::c` that is no namespace, where `a` is one of ROOTS."""
    for match in USED.finditer(COMMENT.sub("", code)):
        parts = [*match[1].split("::")[:-1], match[2]]
        if parts[0] not in ROOTS:
            continue
        first = next((part for part in parts if part not in NAMESPACES), None)
        if first:
            yield "::".join(parts[:parts.index(first) + 1]), first


def missing_includes(page):
    """What a page's blocks use without an include before it, as (line, name, headers)."""
    text, known, told = page.read_text(), set(closure(LIBRARY / "tilewright.hpp")), set()
    position = 0
    for match in BLOCK.finditer(text):
        for shown in SHOWN.findall(text[position:match.end()]):
            header = LIBRARY / (shown[0] or shown[1])
            if header.is_file():
                known |= closure(header.resolve())
        position = match.end()
        note = match[1] or ""
        if match[2] != "cpp" or note.startswith(("part of", "not compiled")):
            continue
        for name, last in names_in(match[3]):
            headers = declarations().get(last, set())
            if headers and not headers & known and name not in told:
                told.add(name)
                yield text.count("\n", 0, match.start(3)) + 1, name, sorted(str(each.relative_to(LIBRARY)) for each in headers)


def wrong_headers(page):
    """Names beside headers that do not have them, as (line, name, header)."""
    text = page.read_text()
    prose = BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in BESIDE.finditer(prose):
        file = match[2] or match[3]
        headers = [each for each in all_headers() if str(each).endswith("/" + file)]
        names = re.findall(r"\w+", re.sub(r"[<({].*", "", match[1]))
        if headers and names and not any(re.search(rf"\b{names[-1]}\b", code_of(each)) for each in headers):
            yield prose.count("\n", 0, match.start()) + 1, match[1], file


def main():
    pages = [PROJECT / "README.md", *sorted(page for page in (PROJECT / "docs").rglob("*.md") if "generated" not in page.parts)]
    problems = []
    for page in pages:
        where = page.relative_to(PROJECT)
        problems += [f"{where}:{line}: {name}: an include of {' or '.join(headers)} before it expected"
                     for line, name, headers in missing_includes(page)]
        problems += [f"{where}:{line}: `{name}` is not in {header}" for line, name, header in wrong_headers(page)]
    print("\n".join(problems) or f"{len(pages)} pages show the includes of what they use, and name the headers that have it")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
