#!/usr/bin/env python3
"""docs/extend/op-members.md has a section for each group of an op, with the members of its struct in their order; ops can name the group
in tilewright::authoring, and all have it by default."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
GRAPH = PROJECT / "include/tilewright/graph/op_info"


def groups():
    """The members of each group that OpInfo has, by its name."""
    info = re.search(r"struct OpInfo : (.*?) \{", (GRAPH / "op_info.hpp").read_text(), re.DOTALL)
    text = (GRAPH / "op_groups.hpp").read_text()
    result = {}
    for name in info[1].replace("\n", " ").split(", "):
        body = re.sub(r"//.*", "", re.search(rf"struct {name.strip()} \{{\n(.*?)^\}};", text, re.DOTALL | re.MULTILINE)[1])
        result[name.strip()] = re.findall(r"(?:\(\*(\w+)\)[^;]*|(\w+)) = [^;]*;", body)
    return {name: [a or b for a, b in members] for name, members in result.items()}


def main():
    page = (PROJECT / "docs/extend/op-members.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    authoring = (PROJECT / "include/tilewright/ops/authoring.hpp").read_text()
    defaults = (PROJECT / "include/tilewright/op/stated_op.hpp").read_text()
    wrong = []
    for name, members in groups().items():
        shown = re.findall(r"^\| `(\w+)", sections.get(name, ""), re.MULTILINE)
        if not members or shown != members:
            wrong.append(f"docs/extend/op-members.md, {name}: {', '.join(shown) or 'nothing'}: {', '.join(members)} expected")
        if f"using tilewright::{name};" not in authoring:
            wrong.append(f"ops/authoring.hpp: no `using tilewright::{name};`")
        if f"constexpr operator {name}() const" not in defaults:
            wrong.append(f"op/stated_op.hpp: OpDefaults has no `constexpr operator {name}() const`")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
