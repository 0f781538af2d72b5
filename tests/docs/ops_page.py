#!/usr/bin/env python3
"""Makes docs/generated/ops.md, the list of all ops, docs/generated/ops/FAMILY.md, the reference of each family of them, and the
pages of reference_pages.py, from the declarations and the comments above them.

Without options it compares the pages with the headers; --write writes them. Either fails for an op without a comment.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from declarations import (Declaration, arguments, closing, declarations, error_messages, masked, message, namespaces,  # noqa: E402
                          outside_of_namespaces, without_parentheses)
from reference_pages import INCLUDE, PROJECT, pages, signature, without_tags  # noqa: E402

PAGES = PROJECT / "docs" / "generated"

OPS_HEAD = """# Ops

This page lists all functions of `tilewright::ops`. Each family has a page of its own. Structs of options and enums are in
`tilewright` itself. For example, write `tw::ops::mse_loss(x, t, {.reduction = tw::Reduction::sum})`. Operators of tensors (`+`,
`-`, `*`, `/`) and methods (`matmul`, `reshape`, `T`, ...) are short forms of some ops.

[From PopXL](../popxl.md) lists the ops of PopXL with their names here. [The reference](reference.md) has sessions and handles.
[What is tested](tested-ops.md) lists the dtypes, shapes and targets that tests compare. [Adding an op](../adding-an-op.md) shows
how to write an op of your own. `./dev docs` makes these pages from the declarations and their comments. Edit the headers, not the
pages.

"""
# By the folder that a family stands in: its page, its title, and what its ops do.
FAMILIES = {
    "elementwise": ("elementwise", "Elementwise ops", "compute each element of the result from one of each operand; operands broadcast"),
    "linear": ("linear", "Products and convolutions", "multiply matrices, convolve, and convert to and from float8"),
    "nn": ("nn", "Ops of networks", "compute attention, normalise, pool, resize, and measure losses"),
    "reduce": ("reductions", "Reductions", "sum, compare or search along axes"),
    "shape": ("shape", "Shape ops", "change shapes, cut and join tensors, and make new ones"),
    "index": ("indexed", "Indexed ops", "read and write rows whose numbers another tensor holds"),
    "random": ("random", "Random ops", "draw numbers from a seed"),
    "update": ("updates", "Updates", "change variables in place, as optimisers do"),
    "memory": ("transfers", "Transfers", "move tensors between host, IPUs and remote memory, or print them"),
    "collective": ("collectives", "Collectives", "combine the tensors of replicas or IPUs"),
    "program": ("calls", "Calls, loops and branches", "run other graphs"),
}
FAMILY_HEAD = """Each function has a list of facts:

- the types of the ops that it appends, as `print_schedule` shows them, with their comments
- the formula of an element and of its gradient, if each is one expression
- the form in place, if it has one
- the faults that a run reports
- the texts of compile errors, in which `…` stands for the values that you passed

"""

# Structs of options by their names; a page of ops shows them where a function first takes one.
OPTIONS = re.compile(r"(Options|Parameters|Factors|Axes|Branch|Index|Indices|Slice|Range)$")
# Functions of detail that change dtypes and reduce around what a function computes: their ops are not the function's.
AROUND = {"widened", "reduced"}
# The headers of the pages of ops, in their order: those that ops/ops.hpp includes, print_tensor's, then the calls of program/.
CALLS = ["program/call.hpp", "program/repeat.hpp", "program/conditional.hpp"]


def op_headers():
    names = re.findall(r'#include "tilewright/(ops/[\w/]+\.hpp)"', (INCLUDE / "ops/ops.hpp").read_text())
    names = sorted([*names, "ops/memory/print_tensor.hpp"])
    found = []
    for name in names:
        inner = re.findall(r'#include "tilewright/(ops/[\w/]+\.hpp)"', (INCLUDE / name).read_text())
        for each in [*inner, name]:
            if each not in found and "namespace ops" in (INCLUDE / each).read_text():
                found.append(each)
    rest = sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "ops").rglob("*.hpp")
                  if any(namespaces(path.read_text(), "ops")))
    return found + [name for name in rest if name not in found] + CALLS


class Library:
    """All declarations of the headers by name."""

    def __init__(self, texts):
        self.structs, self.functions, self.outside = {}, {}, []
        for text in texts:
            self.add(outside_of_namespaces(text, left_out=()))
        for owner, function in self.outside:
            if owner in self.structs:
                self.structs[owner].members = [*getattr(self.structs[owner], "members", []), function]
        self.names = {"floating_point_dtypes": "float16, float32, float64 or bfloat16"}

    def add(self, text):
        for each in declarations(text):
            if each.type:
                self.structs.setdefault(each.name, each)
                each.members = list(declarations(each.body)) if each.body else []
            elif match := re.match(r"using (\w+) = (\w+)<(\w+)>$", each.head):
                each.name, each.members, each.alias_of = match[1], [], match[2]
                each.argument = match[3]
                self.structs.setdefault(each.name, each)
            elif each.is_function:
                self.functions.setdefault(each.name, []).append(each)
                for owner in re.findall(r"\b(\w+)::" + re.escape(each.name) + r"\(", each.head):  # defined outside of its struct
                    self.outside.append((owner, each))

    def bases_of(self, struct):
        names = [struct.alias_of] if getattr(struct, "alias_of", None) else struct.bases
        return [self.structs[name] for name in names if name in self.structs]

    def base_of(self, struct):
        return next(iter(self.bases_of(struct)), None)

    def member(self, struct, name):
        """A member with a body, of the struct or of the first base that has it."""
        for each in getattr(struct, "members", []):
            if each.name == name and (each.body or "=" in each.head):
                return each
        found = (self.member(base, name) for base in self.bases_of(struct) if base.name != struct.name)
        return next(filter(None, found), None)

    def op_name(self, struct):
        """The op's name in messages and schedules; None if the struct is no op."""
        for each in getattr(struct, "members", []):
            if match := re.search(r'\bname = "(\w+)"', each.head):
                return match[1]
        if argument := self.structs.get(getattr(struct, "argument", None)):
            if name := self.op_name(argument):
                return name + ("Inplace" if struct.alias_of == "InPlace" else "")
        base = self.base_of(struct)
        return self.op_name(base) if base and base is not struct else None

    def modifies(self, struct):
        """The number of the input that an op writes, or None."""
        while struct:
            for each in getattr(struct, "members", []):
                if match := re.search(r"\.modifies = (\d)", each.body or ""):
                    return match[1]
            struct = self.base_of(struct)
        return None

    def wrapped(self, wrapper, name):
        """The name under which a struct template of an op, InPlace<Exp>, is found."""
        both = f"{wrapper}<{name}>"
        if both not in self.structs:
            alias = Declaration("", f"using {both}", "")
            alias.name, alias.members, alias.alias_of, alias.argument = both, [], wrapper, name
            self.structs[both] = alias
        return both

    def ops_of(self, function, seen=None):
        """The op types that a function appends, itself or by the functions that it calls."""
        seen = set() if seen is None else seen
        found = []
        text = function.body
        for wrapper, name in re.findall(r"\b(?:apply|apply_all)\s*<(\w+)<(\w+)>>", text):
            if wrapper in self.structs and name in self.structs:
                found.append(self.wrapped(wrapper, name))
        for name in re.findall(r"\b(?:apply|apply_all|emit|emit_modifying|op_info)\s*<\s*(\w+)", text):
            if name in self.structs and self.op_name(self.structs[name]) and name not in found:
                found.append(name)
        for match in re.finditer(r"\b(\w+)(?:<(\w+)[^<>()]*>)?\(", masked(text)):
            if match[2] in self.structs and self.op_name(self.structs[match[2]]) and match[2] not in found:
                found.append(match[2])
            elif match[1] in self.functions and match[1] not in seen | AROUND | {function.name} and not found:
                seen.add(match[1])
                for called in self.functions[match[1]]:
                    if "detail" in text[max(0, match.start() - 8):match.start()] or len(text) < 200:
                        found += [name for name in self.ops_of(called, seen) if name not in found]
        return found

    def errors(self, body, struct=None, seen=None, depth=4):
        """The texts of errors of a body and of the checks that it calls: pairs of whether the op's name stands before it, and it."""
        seen = set() if seen is None else seen
        result = list(error_messages(body, self.names))
        if struct and struct.name == "Inference":
            result = [(True, text) for _, text in result]
        for within, name in re.findall(r"(\bdetail::)?\b(\w+)(?:<[^<>]*>)?\(", masked(body)):
            if name in seen or depth == 0 or ("in_place" in name and not (struct and self.modifies(struct))):
                continue
            own = struct and self.member(struct, name)
            called = [own] if own else [each for each in self.functions.get(name, [])
                                        if "Inference&" in each.head or (within and not struct)]
            if not called and name.startswith(("require_", "check_")):
                called, struct_of_call = [self.member(self.structs["Inference"], name)], self.structs["Inference"]
                called = [each for each in called if each]
            else:
                struct_of_call = struct
            if own or called:
                seen.add(name)
            for each in called:
                result += [pair for pair in self.errors(each.body, struct_of_call, seen, depth - 1) if pair not in result]
        if struct and "::infer(op)" in body:
            for base in re.findall(r"\b(\w+)::infer\(op\)", body):
                if base in self.structs and base != struct.name and (infer := self.member(self.structs[base], "infer")):
                    result += [pair for pair in self.errors(infer.body, self.structs[base], seen, depth - 1) if pair not in result]
        return result


def as_formula(body):
    """The expression of a body that is one return, without what C++ needs and a reader does not; or None."""
    match = re.fullmatch(r"\s*return ([^;]*);\s*", body)
    if not match or "[" in match[1] or "{" in match[1]:
        return None
    text = " ".join(match[1].split())
    text = re.sub(r"(?:authoring::)?math::number<\w+>\(([^()]*)\)", r"\1", text)
    text = re.sub(r"static_cast<[^<>]*(?:<[^<>]*>)?>", "", text)
    text = re.sub(r"\b(?:std|math)::", "", without_parentheses(text))
    return re.sub(r"\bX\(([\w.]+)\)", r"\1", text)


def gradients(library, body):
    """Lines about a gradient rule: what it gives for each input, in terms of the op's tensors."""
    found, mask = [], masked(body)
    for match in re.finditer(r"\binput_gradient\(", mask):
        parts = arguments(body[match.end():closing(mask, match.end() - 1)])
        if len(parts) != 2:
            continue
        text = " ".join(parts[1].split())
        text = re.sub(r"detail::summed<(\w+)>\((\{.*?\}), op\.input_spec\((\w+)\)\)", r"sum_to(\1(\2), shape of input \3)", text)
        for pattern, short in [(r"op\.output_gradient\(0\)", "dy"), (r"op\.output_gradient\((\w+)\)", r"dy\1"),
                               (r"op\.output\(0\)", "y"), (r"op\.output\((\w+)\)", r"y\1"), (r"op\.input\(([^()]*)\)", r"input \1"),
                               (r"op\.input_spec\(([^()]*)\)\.shape", r"shape of input \1"),
                               (r"op\.(?:template )?attributes<\w+>\(\)", "its attributes"), (r"\b(?:ops|detail|tilewright)::", "")]:
            text = re.sub(pattern, short, text)
        text = re.sub(r"apply<(\w+)>\(\{", r"\1({", text)
        found.append(f"of input {parts[0]}: `{text}`")
    if not found:
        return ["- gradient: graph code"]
    return ["- gradient " + found[0]] if len(found) == 1 else ["- gradients:"] + [f"  - {line}" for line in dict.fromkeys(found)]


def faults(library, body, name):
    """The texts of the faults that a rule `fault` gives."""
    mask = masked(body)
    for match in re.finditer(r"return \{", mask):
        parts = [re.sub(r"^\.\w+ = ", "", part) for part in arguments(body[match.end():closing(mask, match.end() - 1)])]
        if len(parts) >= 3:
            yield f"{name}: {message(parts[1], library.names)} …: {message(parts[2], library.names)} expected"


def facts_of(library, type_name, function, functions):
    """Lines about an op type: what its struct says."""
    struct = library.structs[type_name]
    name = library.op_name(struct)
    infer = library.member(struct, "infer")
    errors = [f"{name}: {text}" if is_of_op else text for is_of_op, text in library.errors(infer.body, struct)] if infer else []
    if getattr(struct, "alias_of", None) == "InPlace":
        plain = function.name.removesuffix("_")
        return [f"- `{name}`: writes the result to input 0, and returns an alias of it; see [{plain}](#{plain}) for the rest"], errors
    lines = [f"- `{name}`" + (": " + " ".join(struct.comment.split()) if struct.comment else "")]
    forward, backward = library.member(struct, "forward"), library.member(struct, "backward")
    if forward and (formula := as_formula(forward.body)):
        lines.append(f"- element: `{formula}`")
    gradient = library.member(struct, "gradient")
    if backward and "::slope(" in backward.body:
        lines.append("- gradient: the derivative, element by element; on the host, the forward graph computes it with the result")
    elif backward and (formula := as_formula(backward.body)):
        lines.append(f"- gradient: `{formula}`" + (", of the result `y`" if re.search(r"\(X y, X dy", backward.head) else ""))
    elif backward:
        lines.append("- gradient: the derivative, element by element")
    elif gradient:
        lines += gradients(library, gradient.body)
    elif (match := library.member(struct, "differentiation")) and "stops" in match.head:
        lines.append("- gradient: none; the op stops it")
    else:
        lines.append("- gradient: none; autodiff refuses the op")
    if written := library.modifies(struct):
        lines.append(f"- in place: the op writes its input {written}, and returns an alias of it")
    elif function.name + "_" in functions:
        lines.append(f"- in place: [`{function.name}_`](#{function.name}_)")
    if fault := library.member(struct, "fault"):
        bodies = [fault.body] + [each.body for called in re.findall(r"return (\w+)\(", fault.body)
                                 for each in library.functions.get(called, [])]
        bodies += [rule.body for owner in re.findall(r"return (\w+)::fault\(", fault.body) if owner in library.structs
                   and (rule := library.member(library.structs[owner], "fault"))]
        lines += [f"- fault: `{text}`" for body in bodies for text in faults(library, body, name)]
    return lines, errors


def joined(errors):
    """Texts of errors. Pieces that a local function puts between what an op is given and "expected" get these."""
    pieces = [text for text in errors if re.match(r"[,:] | (?=\w)", text)]
    frames = [text for text in errors if re.fullmatch(r"\w+: [^:]*… expected", text)]
    if not pieces or not frames:
        return list(errors)
    result = [text for text in errors if text not in pieces and text != frames[0]]
    return result + [frames[0].removesuffix(" expected") + piece + " expected" for piece in pieces]


def options_in(library, text, described, place):
    """The comments and members of the structs and enumerations of options that a text names, and of those in their members. Those that
    another page shows become links. described: by name, the (page, function) that shows it, and by (name, page) that which has a link; place: those
    of the text."""
    elsewhere = []
    for name in dict.fromkeys(re.findall(r"\b[A-Z]\w+\b", text)):
        struct = library.structs.get(name)
        if not struct or not struct.body or not (struct.head.startswith("enum") or OPTIONS.search(name)):
            continue
        if name in described:
            page, function = described[name]
            if page != place[0] and (name, place[0]) not in described:
                described[name, place[0]] = place
                elsewhere.append(f"[{name}]({page}.md#{function})")
            continue
        described[name] = place
        fields = textwrap.dedent(struct.body.strip("\n")).rstrip()
        result = f"`{name}`" + (f": {struct.comment}" if struct.comment else "") + "\n\n"
        if not re.search(r"\bconstexpr \w+\(|^template|^class", fields, re.MULTILINE):  # else it is no plain struct
            result += f"```cpp\n{fields}\n```\n\n"
        yield result
        yield from options_in(library, re.sub(r"//[^\n]*", "", fields), described, place)
    if elsewhere:
        yield "Options of other pages: " + ", ".join(elsewhere) + ".\n\n"


def op_functions(text):
    """The functions of namespace ops, and those that `using tilewright::...` puts there, by name in the order of the text."""
    groups, everything = {}, list(declarations(outside_of_namespaces(text)))
    for inner in namespaces(text, "ops"):
        inner = outside_of_namespaces(inner)
        for each in declarations(inner):
            for name in re.findall(r"tilewright::(\w+)", each.head) if each.head.startswith("using ") else []:
                for found in everything:
                    if found.name == name and found.is_function:
                        groups.setdefault(name, []).append(found)
            if each.is_function and not each.head.startswith("using "):
                groups.setdefault(each.name, []).append(each)
    return groups


def family_of(header):
    family = header.split("/")[-2]
    if family not in FAMILIES:
        sys.exit(f"{Path(__file__).name}: {header} is of no family: {family} expected in FAMILIES")
    return family


def header_part(library, header, groups, functions, described):
    """The part of a family's page that shows a header's functions."""
    title = Path(header).stem.replace("_", " ").capitalize()
    parts = [f"## {title}\n\n[{header}](../../../include/tilewright/{header})\n\n"]
    described_by = ""
    for name, overloads in groups.items():
        heads = "\n".join(signature(each.head) for each in overloads)
        parts.append(f"### {name}\n\n```cpp\n{heads}\n```\n\n")
        own = [each.comment for each in overloads if each.comment]
        if not own and described_by:
            parts.append(f"See [{described_by}](#{described_by}).\n\n")
        if own:
            described_by = name
            parts.append("\n\n".join(own) + "\n\n")
        lines, errors = [], []
        for each in overloads:
            errors += [text for is_of_op, text in library.errors(each.body) if not is_of_op]
            for type_name in library.ops_of(each):
                facts, more = facts_of(library, type_name, each, functions)
                if facts[0] not in lines:
                    lines += facts
                    errors += more
        if errors := joined(dict.fromkeys(errors)):
            lines.append("- errors:")
            lines += [f"  - `{error}`" for error in errors]
        if lines:
            parts.append("\n".join(lines) + "\n\n")
        parts += options_in(library, " ".join(each.head for each in overloads), described, (FAMILIES[family_of(header)][0], name))
    return "".join(parts)


def ops_pages(library):
    """The pages by their paths in docs/generated: the list of all ops, then the families in their order."""
    described, rows = {}, []
    headers = {header: op_functions((INCLUDE / header).read_text()) for header in op_headers()}
    functions = {name for groups in headers.values() for name in groups}
    pages_of_families = {}
    for family, (page, title, does) in FAMILIES.items():
        own = {header: groups for header, groups in headers.items() if groups and family_of(header) == family}
        parts = [header_part(library, header, groups, functions, described) for header, groups in own.items()]
        links, anchors = [], {}
        for header, groups in own.items():
            part, places = Path(header).stem.replace("_", " "), []
            for name in groups:  # a second heading of a name has an anchor with a number
                count = anchors[name] = anchors.get(name, -1) + 1
                places.append((name, f"#{name}" + (f"-{count}" if count else "")))
            links.append(textwrap.fill(f"- {part}: " + ", ".join(f"[{name}]({place})" for name, place in places), 130,
                                       subsequent_indent="  ", break_on_hyphens=False))
            rows.append(f"| [{title}](ops/{page}.md) | {part} | " +
                        ", ".join(f"[{name}](ops/{page}.md{place})" for name, place in places) + " |\n")
        head = f"# {title}\n\nThese {does}. [All ops](../ops.md).\n\n"
        listed = "\n".join(links)
        text = head + listed + "\n\n" + FAMILY_HEAD + "".join(parts)
        pages_of_families[f"ops/{page}.md"] = without_tags(text.rstrip() + "\n")
    table = "| family | group | ops |\n| --- | --- | --- |\n" + "".join(rows)
    return {"ops.md": OPS_HEAD + table, **pages_of_families}


def undocumented():
    """Functions of namespace ops of which no overload has a comment, nor one above it in the header that may be for both."""
    for header in op_headers():
        is_described = False
        for name, overloads in op_functions((INCLUDE / header).read_text()).items():
            is_described = is_described or any(each.comment for each in overloads)
            if not is_described:
                yield f"{header}: ops::{name}: a comment of its shapes, dtypes, formula, gradient, NaN and errors expected"


def library_of_headers():
    """All headers but those of layers, whose structs may have the names of ops."""
    return Library(path.read_text() for path in sorted(INCLUDE.glob("*/**/*.hpp")) if path.parent.name != "layers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="write the pages")
    options = parser.parse_args()
    if missing := "\n".join(undocumented()):
        sys.exit(missing)
    library = library_of_headers()
    of_ops = ops_pages(library)
    made = {**of_ops, **pages(of_ops)}
    for name in sorted({str(page.relative_to(PAGES)) for page in (PAGES / "ops").glob("*.md")} - set(made)):
        if not options.write:
            sys.exit(f"docs/generated/{name} is of no family of ops: ./dev docs removes it")
        (PAGES / name).unlink()
    for name, text in made.items():
        page = PAGES / name
        if options.write:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            sys.exit(f"docs/generated/{name} is not what the headers say: ./dev docs writes it")


if __name__ == "__main__":
    main()
