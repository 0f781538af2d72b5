"""The table of compilers in docs/generated/compile-times.md."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs/generated/compile-times.md"
BEGIN, END = "<!-- written by ./dev test --systems --write -->\n", "<!-- to here -->\n"


def compilers():
    """Those that stand in the table, by major version: `GCC 14`, `Clang 19`."""
    text = PAGE.read_text()
    return set(re.findall(r"\b((?:GCC|Clang) \d+)\b", text[text.index(BEGIN):text.index(END, text.index(BEGIN))]))


def cost(seconds, megabytes):
    return f"{seconds:.1f} s, {megabytes / 1000:.2f} GB" if seconds else ""


def text_of(rows):
    lines = ["| system | compiler | with | README's program | compiling it | compiling `examples/gpt.cpp` |", "| --- | --- | --- | --- | ---: | ---: |"]
    for row in rows:
        options = f"`{row.options}`" if row.options else ""
        lines.append(f"| {row.system} | {row.compiler} | {options} | {row.verdict} | {cost(row.seconds, row.megabytes)} | "
                     f"{cost(row.gpt_seconds, row.gpt_megabytes)} |")
    return "\n".join(lines) + "\n"


def write(text):
    page = PAGE.read_text()
    begin = page.index(BEGIN) + len(BEGIN)
    end = page.index(END, begin)
    PAGE.write_text(page[:begin] + text + page[end:])
