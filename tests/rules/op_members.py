#!/usr/bin/env python3
"""docs/extend/op-members.md has a section for each group of an op, with the members of its struct in their order; ops can name the group
in tilewright::authoring, and all have it by default, except for the rules of one kind of machine.

OpInfo has at most MOST members, and none that the planner of one kind of machine alone reads: such a member belongs to that machine's
rules. --list shows the files that read each member. Headers of ops name no form that only a host has (FORMS)."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include/tilewright"
GRAPH = LIBRARY / "graph/op_info"
MOST = 36
FORMS = "winograd|channels_last"
MACHINES = {"HostRules": "rules/host/host_rules.hpp", "IpuRules": "rules/ipu/ipu_rules.hpp"}
# What runs for one kind of machine only.
ROOMS = {
    "a host": ("lower/host/", "lower/memory/shared_vertices.hpp", "transform/convolution_forms.hpp", "transform/fuse_across_calls.hpp",
               "transform/calls/ops_"),
    "a simulated IPU": ("lower/ipu/", "lower/products/convolution_blocks.hpp", "target/", "transform/memory_proportions.hpp"),
}
# What knows all members, states them, or checks plans for all machines.
ALL = ("graph/op_info/", "op/", "ops/", "rules/", "verified/")


def uncommented(path):
    return re.sub(r"//.*", "", path.read_text())


def members_of(struct, path):
    body = re.search(rf"struct {struct}\b[^{{;]*\{{\n(.*?)^\}};", uncommented(path), re.DOTALL | re.MULTILINE)[1]
    return [a or b for a, b in re.findall(r"(?:\(\*(\w+)\)\([^;]*|(\w+)(?: = [^;]*|\{\}));", re.sub(r"\{[^{}]*\n[^{}]*\}", "", body))]


def groups():
    """The members of each group that OpInfo has, by its name."""
    info = re.search(r"struct OpInfo : (.*?) \{", (GRAPH / "op_info.hpp").read_text(), re.DOTALL)
    return {name: members_of(name, GRAPH / "op_groups.hpp") for name in re.split(r",\s+", info[1])}


def readers(member):
    """The files that read a member of an op."""
    read = re.compile(rf"\b(?:(?:\w+_)?op|info|producer|found|combiner|op_info<[^;]*>)(?:->|\.){member}\b")
    files = (header.relative_to(LIBRARY) for header in sorted(LIBRARY.rglob("*.hpp")))
    return [str(file) for file in files if not str(file).startswith(ALL) and read.search(TEXTS[file])]


def check_groups(of_op):
    page = (PROJECT / "docs/extend/op-members.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    authoring = (LIBRARY / "ops/authoring.hpp").read_text()
    defaults = (LIBRARY / "op/stated_op.hpp").read_text()
    for name, members in {**of_op, **{name: members_of(name, LIBRARY / path) for name, path in MACHINES.items()}}.items():
        shown = re.findall(r"^\| `(\w+)", sections.get(name, ""), re.MULTILINE)
        if not members or shown != members:
            yield f"docs/extend/op-members.md, {name}: {', '.join(shown) or 'nothing'}: {', '.join(members)} expected"
        if f"using tilewright::{name};" not in authoring:
            yield f"ops/authoring.hpp: no `using tilewright::{name};`"
        if name not in MACHINES and f"constexpr operator {name}() const" not in defaults:
            yield f"op/stated_op.hpp: OpDefaults has no `constexpr operator {name}() const`"


def check_readers(members):
    if len(members) > MOST:
        yield f"OpInfo: {len(members)} members: at most {MOST} expected"
    for member in members:
        files = readers(member)
        if "--list" in sys.argv:
            print(f"{member}: {', '.join(files)}")
        for machine, rooms in ROOMS.items():
            if files and all(file.startswith(rooms) for file in files):
                yield f"OpInfo::{member}: read for {machine} only, in {', '.join(files)}: a member of its rules expected"


def check_forms():
    for file, text in TEXTS.items():
        if file.parts[0] in ("graph", "op", "ops") and (match := re.search(FORMS, text, re.IGNORECASE)):
            yield f"{file}: {match[0]}: a word of rules/host/ or kernel/"


def main():
    of_op = groups()
    members = sum(of_op.values(), []) + members_of("OpInfo", GRAPH / "op_info.hpp")
    wrong = [*check_groups(of_op), *check_readers(members), *check_forms()]
    print("\n".join(wrong) or f"{len(members)} members of OpInfo, each read for all machines")
    return 1 if wrong else 0


TEXTS = {header.relative_to(LIBRARY): uncommented(header) for header in sorted(LIBRARY.rglob("*.hpp"))}

if __name__ == "__main__":
    sys.exit(main())
