"""The table of compilers in docs/compiling.md, and the README's row of what they cost."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "compiling.md"
README = PROJECT / "README.md"
BEGIN, END = "<!-- written by ./dev test --systems --write -->\n", "<!-- to here -->\n"
README_ROW = re.compile(r"^\| processor time, peak memory \|.*$", re.MULTILINE)
README_HEAD = re.compile(r"^\| compiling the program above.*$", re.MULTILINE)


def compilers():
    """Those that stand in the table, by major version: `GCC 14`, `Clang 19`."""
    text = PAGE.read_text()
    return set(re.findall(r"\b((?:GCC|Clang) \d+)\b", text[text.index(BEGIN):text.index(END)]))


def cost(seconds, megabytes):
    return f"{seconds:.1f} s, {megabytes / 1000:.2f} GB" if seconds else ""


def text_of(rows):
    lines = ["| system | compiler | with | README's program | compiling it | compiling `examples/gpt.cpp` |", "| --- | --- | --- | --- | ---: | ---: |"]
    for row in rows:
        options = f"`{row.options}`" if row.options else ""
        lines.append(f"| {row.system} | {row.compiler} | {options} | {row.verdict} | {cost(row.seconds, row.megabytes)} | "
                     f"{cost(row.gpt_seconds, row.gpt_megabytes)} |")
    return "\n".join(lines) + "\n"


def write(text, rows):
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:begin] + text + page[end:])
    costs = {}  # of the newest system that has the compiler
    for row in rows:
        if not row.options:
            costs[row.compiler.split(".")[0]] = cost(row.seconds, row.megabytes)
    readme = README.read_text()
    names = [name.strip() for name in README_HEAD.search(readme)[0].split("|")[2:-1]]
    cells = " | ".join(costs.get(name, "") for name in names)
    README.write_text(README_ROW.sub(f"| processor time, peak memory | {cells} |", readme))
