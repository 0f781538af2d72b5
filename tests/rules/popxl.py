#!/usr/bin/env python3
"""docs/reference/popxl-index.md has a row for each name of tests/reference/popxl_index.txt, and no other. A row without a name here says why.
What this page and the tables of docs/start/popxl.md call `tw::name`, `tw::Class::member()` or `object.member()` is declared in include/;
the first is in tilewright.hpp or in another header that the page shows.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "docs"))
import page_headers  # noqa: E402
from declarations import arguments, closing, declarations, masked, without_templates  # noqa: E402

INCLUDE = PROJECT / "include"
INDEX, TABLE = PROJECT / "docs/reference/popxl-index.md", PROJECT / "docs/start/popxl.md"
NAMES = PROJECT / "tests" / "reference" / "popxl_index.txt"
STATES = ("not here", "not yet")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\([^)\s]+\)")
QUALIFIED = re.compile(r"\btw::((?:\w+::)*\w+)")
MEMBER = re.compile(r"(?:^|(?<=[\w)\]]))\.([a-z]\w*)\(")


def parts_of_namespaces(text):
    """(name below tilewright, what stands in it and in no inner namespace) of each namespace."""
    mask = masked(text)
    spans = [(match, closing(mask, match.end() - 1)) for match in NAMESPACE.finditer(mask)]
    for match, end in spans:
        outer = [each[1] for each, last in spans if each.start() < match.start() and end < last]
        path = "::".join([*outer, match[1]]).split("::")
        if path[0] != "tilewright" or {"detail", "internal"} & set(path):
            continue
        part, at = "", match.end()
        for inner, last in spans:
            if at <= inner.start() < end:  # not one in the last one
                part, at = part + text[at:inner.start()], last + 1
        yield "::".join(path[1:]), part + text[at:end]


def names_of(declaration):
    """What a declaration declares: a type, a function, or variables."""
    head = without_templates(declaration.head).replace("decltype(auto)", "auto")
    if match := re.match(r"using (?:\w+::)*(\w+)", head):
        return [match[1]]
    if declaration.type:
        return [declaration.name]
    if declaration.is_function:
        return [match[1]] if (match := re.search(r"(\w+)\s*\(", head)) else [declaration.name]
    while (plain := re.sub(r"<[^<>]*>", "", head)) != head:
        head = plain
    return [match[1] for each in arguments(head) if (match := re.search(r"(\w+)\s*(?:=.*|\{.*)?;?$", each.strip(), re.DOTALL))]


class Declared:
    """Names below tilewright, such as ops, ops::gelu and Tensor::rank, and what classes derive from."""

    def __init__(self):
        self.names, self.bases = set(), {}

    def add(self, scope, text):
        for each in declarations(text):
            if match := re.match(r"using enum (\w+)", each.head):
                self.names |= {name.rpartition("::")[2] for name in self.names if name.startswith(f"{match[1]}::")}
                continue
            self.names |= {f"{scope}::{name}" if scope else name for name in names_of(each)}
            if match := re.match(r"using (\w+) = (\w+)<", each.head):
                self.bases.setdefault(match[1], set()).add(match[2])
            if each.type and each.body:
                self.add_type(f"{scope}::{each.name}" if scope else each.name, each)

    def add_type(self, path, each):
        if each.head.startswith("enum"):
            values = [re.match(r"\w+", re.sub(r"///?[^\n]*", "", value).strip()) for value in arguments(each.body)]
            self.names |= {f"{path}::{value[0]}" for value in values if value}
            if not each.head.startswith("enum class"):
                scope = path.rpartition("::")[0]
                self.names |= {f"{scope}::{value[0]}".lstrip(":") for value in values if value}
            return
        self.bases.setdefault(path, set()).update(each.bases)
        self.add(path, each.body)

    def has(self, name):
        """Whether a class, or one that it derives from, or a namespace, has the name."""
        scope, _, last = name.rpartition("::")
        if name in self.names:
            return True
        return any(self.has(f"{base}::{last}") for base in self.bases.get(scope, ()))

    def has_member(self, member):
        return any(name.rpartition("::")[2] == member and name.rpartition("::")[0] in self.bases for name in self.names)


def declared():
    found = Declared()
    for header in sorted(INCLUDE.rglob("*.hpp")):
        for scope, text in parts_of_namespaces(header.read_text()):
            found.add(scope, text)
            found.names |= {scope} - {""}
    return found


def cells(line):
    """The cells of a table's line. `\\|` is a character."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def rows_of(text):
    """(line number, cells) of the rows of tables, without their headings."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        is_heading = number < len(lines) and re.match(r"\|[ |:-]+\|$", lines[number])
        if line.startswith("|") and not is_heading and not re.match(r"\|[ |:-]+\|$", line):
            yield number, cells(line)


def undeclared(text, found):
    """Names in code that no header declares."""
    for code in CODE.findall(text):
        code = re.sub(r'"[^"]*"', '""', code)
        yield from (f"tw::{name}" for name in QUALIFIED.findall(code) if not found.has(name))
        yield from (f".{name}()" for name in MEMBER.findall(code) if not found.has_member(name))


def without_include(page, text):
    """Names of a page in headers that it does not show, one line each."""
    library = page_headers.LIBRARY
    shown = [first or second for first, second in page_headers.SHOWN.findall(text)]
    known = frozenset().union(*(page_headers.closure((library / name).resolve()) for name in ("tilewright.hpp", *shown)))
    for line, row in rows_of(text):
        for name, last in page_headers.names_in(" ".join(CODE.findall(" ".join(row[1:])))):
            headers = page_headers.declarations().get(last, set())
            if headers and not headers & known:
                yield f"{page.relative_to(PROJECT)}:{line}: {name}: {' or '.join(sorted(str(each.relative_to(library)) for each in headers))} shown expected"


def name_here(name):
    """The name that would stand here for one of PopXL's: Tensor::location_info for popxl.tensor.Tensor.location_info."""
    if not re.fullmatch(r"[\w.]+(\(\))?", name):
        return ""
    return re.sub(r"^(?:(?:popxl|addons|tensor|transforms)\.)+", "", name.removesuffix("()")).replace(".", "::")


def state_of(row):
    _, here, note = row
    return here if here in STATES else "differs" if note else "the same"


def problems_of(text, names, found):
    """What is wrong in the index, whose names are expected to be `names`."""
    seen = {}
    for line, row in rows_of(text):
        place = f"{INDEX.relative_to(PROJECT)}:{line}"
        if len(row) != 3:
            yield f"{place}: {len(row)} cells: PopXL's name, the name here, and what differs expected"
            continue
        name, here, note = row[0].strip("`"), row[1], row[2]
        if name not in names:
            yield f"{place}: `{name}`: a name of {NAMES.relative_to(PROJECT)} expected"
        elif name in seen:
            yield f"{place}: `{name}`, as in line {seen[name]}: one row expected"
        seen.setdefault(name, line)
        yield from (f"{place}: `{each}`: a name that include/ declares expected" for each in undeclared(f"{here} {note}", found))
        is_named = any(QUALIFIED.search(code) or MEMBER.search(code) for code in CODE.findall(here)) or LINK.search(here)
        if not is_named and here not in STATES and not CODE.search(here):
            yield f"{place}: `{name}` is '{here}': a name in code marks, a link, or one of {', '.join(STATES)} expected"
        elif not is_named and len(note.split()) < 2:
            yield f"{place}: `{name}` has no name here: a reason in the third column expected"
        if here == "not yet" and name_here(name) and found.has(name_here(name)):
            yield f"{place}: `{name}` is not yet here: `tw::{name_here(name)}`, which include/ declares, expected"
    for name in names:
        if name not in seen:
            yield f"{INDEX.relative_to(PROJECT)}: `{name}`: a row expected"


PLANTED = {
    "| `a` | `tw::Tensor::rank()` | |\n| `a` | `tw::cpu` | |": "one row",
    "| `b` | `tw::cpu` | |": "a name of",
    "| `a` | `tw::Tensor::no_such_member()` | |": "no_such_member",
    "| `a` | `tw::no_such_name(x)` | |": "no_such_name",
    "| `a` | `x.no_such_member()` | |": "no_such_member",
    "| `a` | not yet | |": "a reason",
    "| `a` | | not there |": "a name in code marks",
    "| `a` | `tw::cpu` |": "2 cells",
    "| `popxl.Session` | not yet | by hand |": "`tw::Session`, which",
    "": "a row expected",
}


def problems_of_rule(found):
    """What the rule itself does not notice."""
    for text, expected in PLANTED.items():
        names = ["popxl.Session"] if "popxl" in text else ["a"]
        if not any(expected in problem for problem in problems_of(text, names, found)):
            yield f"tests/rules/popxl.py: '{text}': '{expected}' is not noticed"


def main():
    lines = NAMES.read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    found, text = declared(), INDEX.read_text()
    problems = [f"{NAMES.relative_to(PROJECT)}: {name}, twice" for name in sorted({n for n in names if names.count(n) > 1})]
    problems += [*problems_of(text, names, found), *problems_of_rule(found)]
    table = TABLE.read_text()
    problems += [f"docs/start/popxl.md:{line}: `{name}`: a name that include/ declares expected" for line, row in rows_of(table)
                 for name in undeclared(" ".join(row[1:]), found)]
    problems += [*without_include(INDEX, text), *without_include(TABLE, table)]
    states = [state_of(row) for _, row in rows_of(text) if len(row) == 3]
    counts = [f"{states.count(state)} {state}" for state in ("the same", "differs", *STATES)]
    print("\n".join(problems) or f"{len(names)} names of PopXL, each with a row: {', '.join(counts)}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
