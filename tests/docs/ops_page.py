#!/usr/bin/env python3
"""Makes docs/ops.md, the list of all ops, from the declarations of namespace ops and the comments above them.

Without options it compares the page with the declarations; --write writes it.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INCLUDE = PROJECT / "include/tilewright"
PAGE = PROJECT / "docs/ops.md"

HEAD = """# Ops

All functions of `tilewright::ops`, by header, with the comments of their declarations. `./dev docs` makes this page; edit the
headers, not the page. Operators of tensors (`+`, `-`, `*`, `/`) and methods (`matmul`, `reshape`, `T`, ...) are short forms of
some of these. [From PopXL](popxl.md) says which ops of PopXL have which name here.

"""

# The headers in the order of the page: those that ops/ops.hpp includes, then the calls of graph/.
CALLS = ["graph/call.hpp", "graph/repeat.hpp", "graph/conditional.hpp"]


def headers():
    names = re.findall(r'#include "tilewright/(ops/\w+\.hpp)"', (INCLUDE / "ops/ops.hpp").read_text())
    found = []
    for name in names:
        inner = re.findall(r'#include "tilewright/(ops/\w+\.hpp)"', (INCLUDE / name).read_text())
        for each in [*inner, name]:
            if each not in found and "namespace ops" in (INCLUDE / each).read_text():
                found.append(each)
    rest = sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "ops").glob("*.hpp") if namespace_ops(path.read_text()))
    return found + [name for name in rest if name not in found] + CALLS


def comment_text(lines):
    """Comment lines as Markdown: paragraphs, and indented code as it is."""
    return textwrap.dedent("\n".join(re.sub(r"^\s*/// ?", "", line) for line in lines)).strip()


def documented(text):
    """Pairs of a comment and the declaration below it, of functions and structs, wherever they stand."""
    comment, declaration = [], []
    for line in text.splitlines():
        stripped = line.strip()
        if declaration:
            declaration.append(stripped)
        elif stripped.startswith("///"):
            comment.append(line)
            continue
        elif re.match(r"(template <|\[\[nodiscard\]\]|(inline )?constexpr \w|struct \w|void \w)", stripped):
            declaration.append(stripped)
        else:
            comment = []
            continue
        joined = " ".join(declaration)
        if re.search(r"\{|;$", joined) and joined.count("(") == joined.count(")"):
            yield comment_text(comment), joined
            comment, declaration = [], []


def signature(declaration):
    """A declaration without its body, on lines of at most 110 characters."""
    depth, end = 0, len(declaration)
    for i, c in enumerate(declaration):
        depth += (c in "(<") - (c in ")>" and declaration[i - 1] != "-")
        if c == "{" and depth == 0:
            end = i
            break
    plain = re.sub(r"\b(inline |constexpr )", "", declaration[:end]).rstrip(" ;")
    lines = [""]
    for part in re.split(r"(?<=, )", plain):  # lines end with a comma
        if len(lines[-1] + part) > 110:
            lines.append("    ")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def namespace_ops(text):
    """What stands in `namespace ops { ... }`."""
    pattern = r"^namespace ops(?:::\w+)? \{\n(.*?)^\}  // namespace ops"
    return "\n".join(re.findall(pattern, text, re.MULTILINE | re.DOTALL))


def options_of(text, name):
    """The comment and the fields of a struct of options."""
    match = re.search(rf"((?:^///[^\n]*\n)*)^struct {name} \{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    return (comment_text(match[1].splitlines()), textwrap.dedent(match[2]).rstrip()) if match else None


def page():
    parts, described = [HEAD], set()
    everything = "\n".join(path.read_text() for path in sorted(INCLUDE.glob("*/*.hpp")))
    for header in headers():
        functions = list(documented(namespace_ops((INCLUDE / header).read_text())))
        if not functions:
            continue
        parts.append(f"## {Path(header).stem.replace('_', ' ').capitalize()}\n\n[{header}](../include/tilewright/{header})\n\n")
        for comment, declaration in functions:
            if declaration.startswith("struct"):
                continue  # it is shown where a function takes it
            parts.append(f"```\n{signature(declaration)}\n```\n\n")
            if comment:
                parts.append(comment + "\n\n")
            for name in re.findall(r"\b(\w+(?:Options|Parameters))\b", declaration):
                if name in described or not (options := options_of(everything, name)):
                    continue
                described.add(name)
                parts.append(f"`{name}`" + (f": {options[0]}" if options[0] else "") + f"\n\n```\n{options[1]}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    if parser.parse_args().write:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit("docs/ops.md is not what the headers say: ./dev docs writes it")


if __name__ == "__main__":
    main()
