#!/usr/bin/env python3
"""A function without effects is [[nodiscard]]: all ops that are not in place, the functions that pages show, and members that return
another value of their own type. A call whose result nobody uses would compile, and do nothing."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "docs"))
import reference_pages  # noqa: E402
from declarations import declarations, outside_of_namespaces, without_templates  # noqa: E402

INCLUDE = PROJECT / "include" / "tilewright"
# Folders of what users do not call, or of small values that nobody computes without use.
FOLDERS_LEFT_OUT = ("core", "execute", "kernel", "lower", "op", "operand", "rules", "verified")
NOT_PUBLIC = ("detail", "internal", "kernel", "authoring", "std", "losses_elsewhere")
QUALIFIERS = r"(?:(?:inline|static|constexpr|consteval|TILEWRIGHT_KEPT|\[\[[^]]*\]\])\s+)*"
# Functions with effects that return something too, and why.
EFFECTS = {
    r"\w+_|adam_var_update": "in place",
    r"print_tensor|host_(load|store)|differs_by_replica|remote_(load|store)|row_fault|batch_norm":
        "a print, a transfer, a mark, a fault, a change of running statistics",
    r"(call|repeat|conditional)(_with_info)?|batch_serialise\w*|pipelined_execution": "a graph may change its inputs",
    r"train_step|minimise|gradients|test_step|loss_step|run_\w+|evaluate|accuracy|check_gradients|new_tokens": "runs, or changes variables",
    r"graph_input|create_\w+|autodiff\w*|add_\w+|average_variables|clip_by_global_norm|seed_variable|named_\w*buffers|mapped_buffer|memmap_dir":
        "makes graphs, variables, buffers, files",
    r"draw_\w+|set_\w+|attach|detach": "draws a number, or changes a state",
    r"write_\w+|save_\w+|replace": "writes a file; a reader of its answer is rare",
    r"require_\w+": "stops the compilation",
}


def returned(declaration):
    """The type that a function returns; "" for a constructor, an operator, or what is no function."""
    head = without_templates(declaration.head)
    if not declaration.is_function or declaration.name.startswith(("operator", "~")) or "::" + declaration.name in head.split("(")[0]:
        return ""
    match = re.match(rf"{QUALIFIERS}([^()]*?)\b{declaration.name}\s*\(", head)
    kind = match[1].strip() if match else ""
    return "" if kind in ("", "void") or re.match(r"requires|friend|@", kind) else kind


def without_effects(shown):
    """(place, declaration) of each function that the rule is for."""
    for path in sorted(INCLUDE.rglob("*.hpp")):
        header = str(path.relative_to(INCLUDE))
        if header.startswith(tuple(f"{folder}/" for folder in FOLDERS_LEFT_OUT)):
            continue
        for each in declarations(outside_of_namespaces(path.read_text(), left_out=NOT_PUBLIC)):
            if each.name != "deprecated" and returned(each) and (header.startswith("ops/") or each.name in shown):
                yield f"{header}: {each.name}", each
            if each.type and each.body and not each.head.startswith("enum") and "concept " not in each.head:
                for member in declarations(reference_pages.public_part(each)):
                    is_const = re.search(r"\)\s*const\b", without_templates(member.head))
                    if is_const and re.sub(r"<.*|.*::", "", returned(member)) == each.name:
                        yield f"{header}: {each.name}::{member.name}", member


def main():
    pages = "\n".join(path.read_text() for path in sorted((PROJECT / "docs" / "generated").rglob("*.md")))
    shown = set(re.findall(r"\b(\w+)\(", pages))
    found = [(place, each) for place, each in without_effects(shown) if not any(re.fullmatch(names, each.name) for names in EFFECTS)]
    problems = [f"{place}: [[nodiscard]] expected: without its result a call does nothing"
                for place, each in found if "[[nodiscard]]" not in each.head]
    if len(found) < 300:
        problems.append(f"the test is blind: {len(found)} functions found")
    print("\n".join(problems) or f"{len(found)} functions without effects are [[nodiscard]]")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
