"""Writes the figures of `./dev bench compiling` into README.md and pages of docs/: whatever stands between two comments of a page."""

import re
import textwrap
from datetime import date
from pathlib import Path

from readme import processor
from threads import version as commit

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?P<begin>^<!-- written by \./dev bench compiling --write: (?P<name>\w+) -->\n)(?P<text>.*?)(?P<end>^<!-- to here -->\n)",
                   re.MULTILINE | re.DOTALL)
PHASES = ("reading headers and source", "templates at the end", "optimising and generating", "collecting garbage")
PAGES = ("README.md", "docs/generated/compile-times.md", "docs/how-to/trying-things.md")
README_ROWS = ("readme", "edit", "check", "torch", "eigen")


def cell(cost, whole=None):
    """`15.3 s, 0.87 GB`; with the cost of a whole, also the share of its processor time."""
    share = f", {100 * cost[0] / whole[0]:.0f} %" if cost and whole else ""
    return f"{cost[0]:.1f} s, {cost[1] / 1000:.2f} GB{share}" if cost else ""


def figures(names, costs, versions, keys, head=""):
    """A table of these rows: lines by key, columns by compiler."""
    lines = [f"| {head} | {' | '.join(versions.values())} |", f"| --- |{' ---: |' * len(versions)}"]
    for key in keys:
        if key in names:
            cells = (cell(costs.get((key, each)), costs.get(("readme", each)) if key == "check" else None) for each in versions)
            lines.append(f"| {names[key]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_blocks(page, texts):
    """The text of a page with these texts, by name, in its blocks. A block without one stays."""
    return BLOCK.sub(lambda match: match["begin"] + texts.get(match["name"], match["text"]) + match["end"], page)


def blocks(names, costs, versions, phases, machine, origin):
    """The text of each block: of names of rows, costs by (row, compiler), and GCC's phases by way."""
    def wrapped(text):
        return textwrap.fill(text, 130, break_long_words=False, break_on_hyphens=False) + "\n"

    gcc = versions["GCC"]
    measured = f"`./dev bench compiling --write` measured these figures on {machine}: the least of several rounds."
    texts = {
        "readme": figures({key: name.replace("README's program", "program above") for key, name in names.items()}, costs, versions,
                          README_ROWS, "compiling: processor time, peak memory") + "\n" +
                  wrapped(measured),
        "edit": wrapped(f"The table shows the compiler's processor time and peak memory. {measured} {origin}") + "\n" +
                figures(names, costs, versions, [key for key in names if key not in ("torch", "eigen", "single")])}
    if all(both := [costs.get((key, "GCC")) for key in ("single", "readme")]):
        texts["single"] = wrapped("{} with `-O3` takes {} to compile the README's program with this one header, and {} with the original "
                                  "headers.".format(gcc, *(cell(each).replace(", ", " and ") for each in both)))
    ways = [costs.get((key, "GCC")) for key in ("readme", "header", "edit")]
    once = costs.get(("library", "GCC"))
    if all(ways) and once:
        lines = ["| | headers alone | precompiled header | header and library |", "| --- | ---: | ---: | ---: |",
                 f"| all, without a report | {' | '.join(map(cell, ways))} |"]
        lines += [f"| {what} | {' | '.join(f'{way.get(what, 0):.1f} s' for way in phases)} |" for what in PHASES]
        intro = (f"The table shows where the processor time of the README's program goes with {gcc} and `-O3`, on {machine}. The phases "
                 "are those of `-ftime-report`, which takes time itself. Garbage is collected within the others.")
        last = f"The header and the library take {once[0]:.1f} s, once."
        texts["library"] = "\n".join([wrapped(intro), *lines, "", wrapped(last)])
    return texts


def write(names, costs, versions, phases, root=ROOT):
    texts = blocks(names, costs, versions, phases, processor(), f"This is commit {commit()}, of {date.today().isoformat()}.")
    for name in PAGES:
        page = root / name
        page.write_text(with_blocks(page.read_text(), texts))
