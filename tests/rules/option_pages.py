#!/usr/bin/env python3
"""Each public struct of options is shown by a page that ./dev docs makes, and each of its members has a comment; each layer says what
it is in another library, and what its variables and their initial values are.

Options are structs named ...Options, ...Parameters and so on, those that a public function or template takes by default as `{}`, those
of their members, and in FOLDERS each struct whose members have default values.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
import ops_page  # noqa: E402
import reference_pages  # noqa: E402
from declarations import declarations, outside_of_namespaces, without_templates  # noqa: E402

INCLUDE = reference_pages.INCLUDE
OPTIONS = re.compile(r"(Options|Parameters|Settings|Scaling|Policy|Rule|Choice)$")
FOLDERS = ("data", "layers", "optim", "train")
# Namespaces that docs/reference/stability.md promises nothing of, or to authors of ops alone.
NOT_PUBLIC = ("detail", "internal", "kernel", "authoring")
GIVEN_BY_DEFAULT = re.compile(r"\b(\w+)(?:<[^<>()]*>)?&? \w+ = (?:\{\}|(\w+)\(\)|(\w+)\{\})")
# Values rather than options, and what authors of ops alone see.
NO_OPTIONS = {"Shape", "Position", "Positions", "ExactNumber", "Point", "PackedAttributes", "Placement", "PlannerAttributes"}

# What the library makes: a Flag, what a number has, and states of a loader and of early stopping.
HOLD_BOOLS = {"Flag", "OptionalNumber", "LoaderState", "EarlyStoppingState"}


def data_members(struct):
    """The members that hold data. (Of a struct in another one, those are its own.)"""
    for each in declarations(reference_pages.public_part(struct)):
        head = without_templates(each.head)
        if each.is_function or each.type or re.match(r"using |friend |static |static_assert|BOOST_HANA|template", head):
            continue
        if "(" in head.split("=")[0].split("{")[0] or "operator" in head or "= default" in head:
            continue  # a function
        yield each


def has_default(member):
    return bool(re.search(r"=|\{", member.head))


def is_plain(struct):
    """Whether all members have a default value, and there is one."""
    members = list(data_members(struct))
    return bool(members) and all(has_default(each) for each in members) and "Module<" not in struct.head


class Headers:
    """The public structs of a set of headers, by header and name, and what their functions take by default."""

    def __init__(self, texts):
        self.structs, self.given = {}, set()
        for header, text in texts.items():
            for each in declarations(outside_of_namespaces(text, left_out=NOT_PUBLIC)):
                if (each.type and each.body and not each.head.startswith("enum") and "concept " not in each.head and
                        not re.search(rf"(?:struct|class) {each.name}<", each.head)):  # no specialisation
                    self.structs[header, each.name] = each
                heads = [each.head] + ([member.head for member in declarations(reference_pages.public_part(each))]
                                       if each.type and each.body else [])
                self.given |= {name for head in heads for match in GIVEN_BY_DEFAULT.finditer(head) for name in match.groups()
                               if name}

    def options(self):
        """The structs of options by header and name."""
        found = {}

        def add(key, struct):
            if key in found or key[1] in NO_OPTIONS:
                return
            found[key] = struct
            types = {word for member in data_members(struct) for word in re.findall(r"\b[A-Z]\w+", re.split(r"[={]", member.head)[0])}
            for other, inner in self.structs.items():
                if other[1] in types and is_plain(inner):
                    add(other, inner)

        for key, struct in self.structs.items():
            if OPTIONS.search(key[1]) or (is_plain(struct) and (key[1] in self.given or key[0].split("/")[0] in FOLDERS)):
                add(key, struct)
        return found


def without_comment(struct):
    return [each.name or each.head for each in data_members(struct) if not each.comment and not each.trailing]


def shown_names(ops_text, pages):
    """The structs that pages show: those of ops as `Name`, elsewhere by header and name."""
    names = set(re.findall(r"^`(\w+)`", ops_text, re.MULTILINE))
    headings = [found for text in pages for found in re.findall(r"^### (\w+)\n\n\[([\w/.]+)\]", text, re.MULTILINE)]
    return names | {(header, name) for name, header in headings}


def problems_of_options(headers, shown):
    for (header, name), struct in headers.options().items():
        if (header, name) not in shown and not (header.startswith(("ops/", "op/")) and name in shown):
            yield f"{header}: {name}: no page that ./dev docs makes shows it: its header in REFERENCE of reference_pages.py expected"
        for member in without_comment(struct):
            yield f"{header}: {name}::{member}: a comment of what it means expected"
        for member in data_members(struct) if name not in HOLD_BOOLS else []:
            if re.match(r"bool\b", member.head):
                yield f"{header}: {name}: `{member.head}`: Flag, which takes no text and no number, expected"


def problems_of_layers(headers):
    for (header, name), struct in headers.structs.items():
        if not header.startswith("layers/") or not re.search(r": (?:Module|detail::\w+)<", struct.head):
            continue
        comment = " ".join(struct.comment.split())
        if not re.search(r"torch\.nn|Hugging Face", comment):
            yield f"{header}: {name}: the layer of another library that it is expected"
        if not re.search(r"[Ii]nitial values|no variables", comment):
            yield f"{header}: {name}: its variables and their initial values expected"


def main():
    headers = Headers({str(path.relative_to(INCLUDE)): path.read_text() for path in sorted(INCLUDE.glob("*/**/*.hpp"))})
    of_ops = ops_page.ops_pages(ops_page.library_of_headers())
    shown = shown_names("".join(of_ops.values()), reference_pages.pages(of_ops).values())
    problems = [*problems_of_options(headers, shown), *problems_of_layers(headers)]
    print("\n".join(problems) or f"{len(headers.options())} structs of options are in pages, and each member has a comment")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
