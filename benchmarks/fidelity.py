#!/usr/bin/env python3
"""Prints measurements of IPUs beside what the model says of them: this is `./dev bench fidelity`.

With --rows FILE.csv, it compares a user's own measurements, and prints the errors by kind of op.
With --write, it writes docs/generated/fidelity.md and the plot docs/images/fidelity.svg instead. The measurements are in
benchmarks/fidelity/measured.hpp, and benchmarks/fidelity/rows.cpp computes the model's values. Nothing is measured here.
"""

import argparse
import json
import math
import subprocess
import sys
import textwrap
from pathlib import Path

import fidelity_rows

PROJECT = Path(__file__).resolve().parents[1]
PAGE, PLOT = "docs/generated/fidelity.md", "docs/images/fidelity.svg"
COLUMNS = 130
NOTABLE = 0.10  # points that are further off are named
BOUNDS = {2: (0.06, 0.20), 3: (0.08, 0.20)}  # of products: mean and worst, as tests/run/targets/fidelity.cpp has them
SERIES = {2: ("float16", "#1f6fb4"), 3: ("float32", "#c4481e")}

INTRODUCTION = """\
This page is made by `./dev bench fidelity --write`. It shows what others measured on IPUs beside what the model of
[simulated IPUs](../how-it-works/simulated-ipu.md) says. The measurements and their sources are facts of
[measured.hpp](../../benchmarks/fidelity/measured.hpp). No constant of the model was fitted to them. The model's constants have
sources of their own, most of which are poplibs' estimates.

An error is modelled / measured - 1. A rate with a positive error is too high in the model, and a time with a positive error too
long. `tests/run/targets/fidelity.cpp` fails if products are further off than the table says, row 1 or 4 by more than 5 %, or a
heat equation (rows 9 to 11) by more than 35 %."""

ASSUMED = """\
The source of the products is a picture with logarithmic axes. A pixel of it is {pixel} %, and the bars of the plot show it: a mean
error below that says nothing. Three readings had to be assumed, because the source does not state them:

- The chip is a Bow. Products of float32 reach 60.2 Tflop/s. That would be 96 % of the peak of a GC200, where a single tile needs
  2,048 rows for such a share (row 1). It is 69 % of a Bow's peak.
- Products of float16 are summed in float16. The published script asks for half partials, and 229 Tflop/s are more than the 174
  that a Bow can do with sums of float32.
- Barriers are counted. The script adds the intervals of computation and exchange, but does not say whether barriers are within
  them.

Other assumptions stand beside their rows below."""


OF_NETWORKS = """\
The time of a run by kinds of cycles, in percent of the published time: a row whose kinds add up to 100 takes as long as the
measurement. Published training had partial sums of float16, and the plans have them too (`Target::with_partials_type`)."""


def percent(value, digits=1):
    text = f"{100 * value:+.{digits}f}"
    return f"{'0' if float(text) == 0 else text} %"


def error(modelled, measured):
    return modelled / measured - 1


def number(value):
    """A number with three or more digits that say something: 0.406, 45.9, 7,530."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def exactly(value, unit):
    """A measured figure with all its digits."""
    if unit == "fits":
        return "yes" if value else "no"
    return f"{int(value) if value == int(value) else value:,} {unit}"


def modelled(figure):
    if figure["unit"] == "fits":
        return exactly(figure["modelled"], "fits")
    return number(figure["modelled"]) if figure["modelled"] else "none"


def errors(row):
    return [error(point["modelled"], point["measured"]) for point in row["points"]]


def mean(values):
    return sum(values) / len(values)


def wrap(text):
    """Paragraphs and list items of at most COLUMNS columns."""
    result = []
    for line in text.split("\n"):
        indent = "  " if line.startswith("- ") else ""
        result.append(textwrap.fill(line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
    return "\n".join(result)


def table(head, rows, texts):
    """A table in Markdown. `texts`: the columns that begin at the left."""
    bars = ["---" if place in texts else "---:" for place in range(len(head))]
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in (head, bars, *rows))


def term_that_misses(point):
    """The largest term, if the missing cycles are at most half of it. Otherwise no single term can hold them."""
    name, cycles = max(point["terms"].items(), key=lambda term: term[1])
    missing = point["missing_cycles"]
    if abs(missing) > cycles / 2:
        return f"no single term: {name} is the largest, with {number(cycles)} cycles"
    return f"{name}: {number(cycles)} cycles, {percent(missing / cycles, 0)} needed"


def notable(rows):
    """The points of products that are further off than NOTABLE."""
    return [(row, point) for row in rows if "points" in row for point in row["points"]
            if abs(error(point["modelled"], point["measured"])) > NOTABLE]


# ---- the plot

def plot(rows, pixel):
    """The errors of products over the measured rate, with bars of a pixel, as SVG."""
    width, height, left, right, top, bottom = 860, 430, 64, 20, 44, 52
    low, high, limit = math.log10(3), math.log10(300), 0.25

    def x(rate):
        return left + (math.log10(rate) - low) / (high - low) * (width - left - right)

    def y(value):
        return top + (limit - value) / (2 * limit) * (height - top - bottom)

    def text(place_x, place_y, content, anchor="middle", more=""):
        return f'<text x="{place_x:.1f}" y="{place_y:.1f}" text-anchor="{anchor}"{more}>{content}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" '
             'fill="#222" role="img" aria-label="Errors of modelled products by measured rate">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             text(left, 22, "Products on a Bow: modelled rate / measured rate - 1", "start",
                  ' font-weight="bold"')]
    for value in (-0.2, -0.1, 0, 0.1, 0.2):
        dash = ' stroke-dasharray="5 4"' if abs(value) == 0.2 else ""
        colour = "#555" if value in (-0.2, 0, 0.2) else "#ccc"
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{colour}"{dash}/>')
        parts.append(text(left - 8, y(value) + 4, f"{100 * value:+.0f} %" if value else "0", "end"))
    for rate in (3, 10, 30, 100, 300):
        parts.append(f'<line x1="{x(rate):.1f}" x2="{x(rate):.1f}" y1="{top}" y2="{height - bottom}" stroke="#ddd"/>')
        parts.append(text(x(rate), height - bottom + 20, rate))
    parts.append(text((left + width - right) / 2, height - 12, "measured, Tflop/s (logarithmic)"))
    parts.append(text(width - right - 6, y(0.2) - 6, "bound of the test", "end", ' fill="#555"'))
    points = [(SERIES[row["row"]], x(point["measured"]), error(point["modelled"], point["measured"]), point)
              for row in rows if "points" in row for point in row["points"]]
    for (name, colour), centre, value, _ in points:
        ends = [y((1 + value) / (1 + side * pixel) - 1) for side in (1, -1)]
        parts.append(f'<line x1="{centre:.1f}" x2="{centre:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}"/>')
        parts.append(marker(name, centre, y(value), colour))
    taken = [(centre - 6, y(value) - 16, centre + 6, y(value) + 16) for _, centre, value, _ in points]
    for (_, colour), centre, value, point in points:
        if abs(value) > NOTABLE:
            content = f"{point['m']:,} x {point['n']:,}"
            box = free_place(centre, y(value), 7.2 * len(content), taken)
            taken.append(box)
            if abs((box[1] + box[3]) / 2 - y(value)) > 1:  # a line to the point
                edge = box[0] if box[0] > centre else box[2]
                parts.append(f'<line x1="{centre:.1f}" y1="{y(value):.1f}" x2="{edge:.1f}" y2="{(box[1] + box[3]) / 2:.1f}" '
                             f'stroke="{colour}" stroke-opacity="0.5"/>')
            parts.append(text((box[0] + box[2]) / 2, box[3] - 3, content, more=f' fill="{colour}"'))
    for place, (name, colour) in enumerate(SERIES.values()):
        at = width - right - 190 + 100 * place
        parts.append(marker(name, at, 18, colour) + text(at + 10, 22, name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def free_place(x, y, width, taken):
    """A box for a label near a point, as (left, top, right, bottom): the first that is clear of the boxes that are taken."""
    def overlap(one, other):
        return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

    boxes = [(left, y + shift - 8, left + width, y + shift + 8)
             for shift in (0, -22, 22, -40, 40, -58, 58) for left in (x + 9, x - 9 - width)]
    return next((box for box in boxes if not any(overlap(box, other) for other in taken)), boxes[0])


def marker(name, centre_x, centre_y, colour):
    if name == "float16":
        return f'<circle cx="{centre_x:.1f}" cy="{centre_y:.1f}" r="4" fill="{colour}"/>'
    return f'<rect x="{centre_x - 3.5:.1f}" y="{centre_y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'


# ---- the page

def figure_rows(rows):
    """Lines of the table of figures: row, figure, measured, modelled, error, source."""
    for row in rows:
        if "points" in row:
            values = [abs(each) for each in errors(row)]
            most_mean, most = BOUNDS[row["row"]]
            yield [str(row["row"]), f"{row['what']}: {len(values)} points", "below", "below",
                   f"mean {100 * mean(values):.1f} %, worst {100 * max(values):.0f} % (bounds {100 * most_mean:.0f} and "
                   f"{100 * most:.0f} %)", row["source"]]
        for figure in row.get("figures", ()):
            has_error = figure["modelled"] != 0 and figure["unit"] != "fits"
            yield [str(row["row"]), f"{row['what']}: {figure['key']}", exactly(figure["measured"], figure["unit"]),
                   modelled(figure), percent(error(figure["modelled"], figure["measured"])) if has_error else "", row["source"]]


def table_of_figures(rows):
    return table(["row", "figure", "measured", "modelled", "error", "source"], list(figure_rows(rows)), (1, 5))


def table_of_notable(rows):
    lines = [[SERIES[row["row"]][0], f"{point['m']:,} x {point['n']:,}", number(point["measured"]), number(point["modelled"]),
              percent(error(point["modelled"], point["measured"])), number(point["missing_cycles"]), term_that_misses(point)]
             for row, point in notable(rows)]
    return table(["dtype", "m x n", "measured", "modelled", "error", "missing cycles", "term"], lines, (0, 6))


def table_of_points(row):
    """The points of a row: m down, n across, each measured / modelled and the error."""
    columns = sorted({point["n"] for point in row["points"]})
    by_place = {(point["m"], point["n"]): point for point in row["points"]}
    lines = []
    for m in sorted({point["m"] for point in row["points"]}):
        cells = []
        for n in columns:
            point = by_place.get((m, n))
            cells.append(f"{point['measured']:.1f} / {point['modelled']:.1f} "
                         f"({percent(error(point['modelled'], point['measured']), 0)})" if point else "")
        lines.append([f"{m:,}", *cells])
    return table(["m", *(f"n = {n:,}" for n in columns)], lines, ())


def notes(rows):
    """What is computed for each row, and what is missing."""
    for row in rows:
        if "how" not in row:
            continue
        yield f"- **{row['row']}, {row['what']}** ({row['configuration']}). Computed: {row['how']}."
        if row["missing"]:
            yield f"  Differs: {row['missing']}."
        for figure in row["figures"]:
            if figure["detail"]:
                yield f"  {figure['key'][0].upper() + figure['key'][1:]}: {figure['detail']}."


def table_of_cycles(rows):
    """Where the cycles of whole networks go, in percent of the published time."""
    kinds = ("compute", "exchange", "barriers", "streams", "links", "waiting")
    lines = []
    for row in rows:
        for figure in row.get("figures", ()):
            if "cycles" not in figure:
                continue
            whole = figure["measured"] / figure["modelled"]  # of rates: the modelled time over the published one
            cycles = figure["cycles"]
            shares = [100 * whole * cycles[kind] / sum(cycles.values()) for kind in kinds]
            lines.append([str(row["row"]), f"{row['what']}: {figure['key']}", *(f"{share:.0f}" for share in shares),
                          f"{100 * whole:.0f}", f"{1 / whole:.2f}"])
    return table(["row", "figure", *kinds, "all", "modelled / measured rate"], lines, (1,))


def few_rows(rows):
    """What the points of 4 and 16 columns of float32 say of the estimate for few rows."""
    points = {(point["m"], point["n"]): point for point in next(row for row in rows if row["row"] == 3)["points"]}
    four, sixteen = points[8192, 4], points[8192, 16]
    measured, modelled_too = ((16 / sixteen[key]) / (4 / four[key]) - 1 for key in ("measured", "modelled"))
    return ("Float32 with few columns points at one estimate. It gives a worker 47 instructions for one row of a block, and 46 "
            f"for three. From n = 4 to n = 16, the time for m = 8,192 changes by {percent(modelled_too, 0)} in the model, and by "
            f"{percent(measured, 0)} in the measurement.")


def page(data):
    rows = data["rows"]
    parts = ["# The model beside measurements", wrap_paragraphs(INTRODUCTION), "## All figures", table_of_figures(rows),
             "## Products", wrap_paragraphs(ASSUMED.format(pixel=f"{100 * data['pixel']:.1f}")),
             f"![Errors of products by measured rate](../images/{Path(PLOT).name})",
             f"Points that are off by more than {100 * NOTABLE:.0f} %:", table_of_notable(rows), wrap(few_rows(rows)),
             "All points of (n, m) by (m, m): measured / modelled Tflop/s, and the error."]
    for row in rows:
        if "points" in row:
            parts += [f"### {SERIES[row['row']][0]}", table_of_points(row)]
    parts += ["## Where the cycles of networks go", wrap_paragraphs(OF_NETWORKS), table_of_cycles(rows)]
    parts += ["## What is computed, and what is missing", wrap_list(notes(rows)), "## Rows that are not computed",
              table(["row", "what", "configuration", "why not"],
                    [[str(row["row"]), row["what"], row["configuration"], row["unused"]] for row in rows if "unused" in row],
                    (1, 2, 3))]
    return "\n\n".join(parts) + "\n"


def wrap_paragraphs(text):
    """Text whose paragraphs and list items may be broken anywhere."""
    blocks = []
    for block in text.split("\n\n"):
        lines = []
        for line in block.split("\n"):
            if line.startswith("- ") or not lines:
                lines.append(line)
            else:
                lines[-1] += " " + line.strip()
        blocks.append(wrap("\n".join(lines)))
    return "\n\n".join(blocks)


def wrap_list(lines):
    items = []
    for line in lines:
        if line.startswith("- "):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return wrap("\n".join(items))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench fidelity", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=PROJECT / "build/gcc", help=argparse.SUPPRESS)
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)  # instead of the one of the build
    parser.add_argument("--write", action="store_true", help=f"write {PAGE} and its plot")
    parser.add_argument("--check", action="store_true", help=f"fail if {PAGE} or its plot is not what --write writes")
    parser.add_argument("--rows", type=Path, metavar="FILE.csv", help="compare these measurements instead: see benchmarks/fidelity_rows.py")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="with --rows: a row for each measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="with --rows: the same, and the errors by kind")
    options = parser.parse_args()
    if options.rows:
        return fidelity_rows.main(options, options.program or options.build_dir / "benchmarks/fidelity_user_rows")
    if options.csv or options.json:
        parser.error("--csv and --json: --rows expected")
    program = options.program or options.build_dir / "benchmarks/fidelity_rows"
    data = json.loads(subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout)
    files = {PAGE: page(data), PLOT: plot(data["rows"], data["pixel"])}
    if options.write:
        for name, text in files.items():
            (PROJECT / name).write_text(text)
        return 0
    if options.check:
        stale = [name for name, text in files.items() if not (PROJECT / name).exists() or (PROJECT / name).read_text() != text]
        for name in stale:
            print(f"{name}: what ./dev bench fidelity --write writes expected")
        return bool(stale)
    print(table_of_figures(data["rows"]), "\n\n", table_of_notable(data["rows"]), sep="")
    for row in data["rows"]:
        if "unused" in row:
            print(f"\nrow {row['row']}, {row['what']}: {row['unused']}", end="")
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
