#!/usr/bin/env python3
"""Prints measurements of IPUs beside what the model says of them: this is `./dev bench fidelity`.

With --rows FILE.csv, it compares a user's own measurements, and prints the errors by kind of op.
With --write, it writes docs/generated/fidelity.md, the plot docs/images/fidelity.svg and include/tilewright/profile/compared_kinds.hpp
instead. The measurements are in benchmarks/fidelity/measured.hpp and vendor_rows.hpp, and benchmarks/fidelity/rows.cpp computes the
model's values. Nothing is measured here.
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
PAGE, PLOT, HEADER = "docs/generated/fidelity.md", "docs/images/fidelity.svg", "include/tilewright/profile/compared_kinds.hpp"
COLUMNS = 130
NOTABLY_FASTER = 0.8
NOTABLE, LABELLED = 0.10, 0.20  # points that are further off are listed, and named in the plot
BOUNDS = {"2": (0.06, 0.20), "3": (0.08, 0.20)}  # of partition_product alone: mean and worst, as tests/run/targets/fidelity.cpp has them
SERIES = {"2": ("float16", "#1f6fb4"), "3": ("float32", "#c4481e")}
# What the ranges of kinds of steps rest on: kinds of vendor_rows.hpp, and rows of measured.hpp. `others` has all of these.
COMPARED = {"products": (("dense layers", "products, k = 512", "products, k = 64", "grouped products", "LSTM, GRU"), ("2", "3")),
            "convolutions": (("convolutions", "depthwise convolutions"), ("M3", "M4", "M7")),
            "pools": (("max pools",), ()), "lookups": (("embedding",), ()), "reductions": (("reductions",), ()),
            "loops": ((), ("4", "5", "6", "9", "10", "M1")), "links": ((), ("11", "M8", "M9"))}
# Kinds of measured rows that the table of errors has beside those of the vendor's simulator.
MEASURED = {"the unit for products": ("1",), "products, float16": ("2",), "products, float32": ("3",),
            "STREAM triads": ("4", "5", "6"), "scaled additions": ("M1",), "exchange": ("7", "14"), "convolutions": ("M3", "M4", "M7"),
            "stencils on one IPU": ("9", "10"), "stencils on several IPUs": ("11", "M8", "M9"), "barriers of IPUs": ("M12",),
            "networks": ("17", "19", "20", "21", "22", "M14", "M15")}

INTRODUCTION = """\
This page is made by `./dev bench fidelity --write`. It shows what others measured on IPUs, and what the vendor's own simulator
says, beside the model of [simulated IPUs](../how-it-works/simulated-ipu.md). The figures and their sources are facts of
[measured.hpp](../../benchmarks/fidelity/measured.hpp) and [vendor_rows.hpp](../../benchmarks/fidelity/vendor_rows.hpp). Programs go
through real plans, as for a session. Formulas of vertices and exchanges stand for rows 1, 7, 14 and 25, and for assembly and plain C++ of rows 5 and 6; a row named
"alone" is a part of the planner.

An error is modelled / measured - 1. A rate with a positive error is too high in the model, and a time with a positive error too
long. A plan that does not fit is marked, and has no cycles. In parentheses is between what a figure is expected: the
[ranges](#ranges) of the kinds of steps that the program consists of, weighted by their cycles.

`tests/run/targets/fidelity.cpp` fails if a row or the mean of a kind leaves its bound; what is beyond it today is marked."""

IN_VIEW = """\
All of these rows were in view while the model was made: errors of unseen programs may be larger. No row was fitted, but three
numbers are a row's: the launch of scaled additions (M1), the barrier of several GC2 (M12), and the 3 instructions for the loop and
the addresses of C++ (row 14, compute of float and float2). Rows 8, 16, 18, 24 and 26 were never compared."""

BANKS = """\
All plans place operands `{banks}` ([`Target::with_banks`](../how-it-works/simulated-ipu.md#banks)); `./dev bench fidelity --banks
best` shows the other policy. With `as_allocated`, operands may share a bank unless a vertex of the vendor's asks for another. In
poplibs sdk-release-3.4, these ask, by `poplar::constraint`:

- products and convolutions by the unit: input and sums (poplin/codelets/ConvPartial1x1Out.cpp, ConvPartialnx1.cpp,
  ConvPartial1xNSLIC.cpp)
- dot products: input and weights (ConvPartialHorizontalMac.cpp, ConvPartialHorizontalMac1x1.cpp, ConvPartialVerticalMac.cpp); outer
  products: weights and result (OuterProduct.cpp)
- triangular solves and LU factors (TriangularSolve.cpp, LuFactorization.cpp)
- additions and products with a broadcast vector: data and result (popops/codelets/BroadcastVectorInner1D.cpp and -2D.cpp)
- conversions, slices of sequences, sparse products (elemwiseMiscCodelets.cpp, SeqSlice.cpp, popsparse/codelets)
- scaled additions only with `optimizeForSpeed`, which is false by default (include/popops/ScaledAdd.hpp)

Sums, differences and products of two tensors do not ask. The model counts banks for products, convolutions and dot products, and,
with `best`, for scaled additions, sums, differences and products; formulas of other ops assume that loads and stores do not collide."""

RANGES = """\
What a figure of others is of the model's time, least and most, by kind of step. The laboratory shows a predicted time with its
range: [compared_kinds.hpp](../../include/tilewright/profile/compared_kinds.hpp) has these numbers. Rows are of whole programs, with
their exchange and barriers."""

VENDOR = """\
Cycles of all passes without streams from and to the host, by Poplar's IPUModel (poplibs, 2021) and by plans."""

ASSUMED = """\
The source of the products is a picture with logarithmic axes. A pixel of it is {pixel} %, and the bars of the plot show it: a mean
error below that says nothing. Three readings had to be assumed, because the source does not state them:

- The chip is a Bow. Products of float32 reach 60.2 Tflop/s. That would be 96 % of the peak of a GC200, where a single tile needs
  2,048 rows for such a share (row 1). It is 69 % of a Bow's peak.
- Products of float16 are summed in float16. The published script asks for half partials, and 229 Tflop/s are more than the 174
  that a Bow can do with sums of float32.
- Barriers are counted. The script adds the intervals of computation and exchange, but does not say whether barriers are within
  them.

Other assumptions stand beside their rows below. Modelled are plans of a product of two variables, whose result goes to the host;
its stream does not count, but what brings the result into order does. `partition_product` alone, which is a part of the planner and
knows no places of operands, is {alone} % off."""


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


def is_time(unit):
    return unit in ("s", "cycles")


def modelled(figure, ranges):
    """What the model says, and between what it is expected: of rates, from the longest time to the shortest."""
    if figure["unit"] == "fits":
        return exactly(figure["modelled"], "fits")
    if not figure.get("fits", True):
        return "does not fit"
    if not figure["modelled"]:
        return "none"
    value = figure["modelled"]
    if not figure.get("kinds"):
        return number(value)
    least, most = range_of(figure["kinds"], ranges)
    low, high = (value * least, value * most) if is_time(figure["unit"]) else (value / most, value / least)
    return f"{number(value)} ({number(low)} to {number(high)})"


def range_of(kinds, ranges):
    """The ranges of kinds of steps, weighted by their cycles."""
    cycles = sum(kinds.values())
    return tuple(sum(kinds[kind] * ranges[kind][end] for kind in kinds) / cycles for end in (0, 1))


def errors(row, of="modelled"):
    return [error(point[of], point["measured"]) for point in row["points"] if point[of]]


def measured_errors(rows):
    """Errors of rows of measurements, with the unit of each; None where a plan does not fit."""
    for row in rows:
        yield from ((error(point["modelled"], point["measured"]) if point["modelled"] else None, "Tflop/s")
                    for point in row.get("points", ()))
        for figure in row.get("figures", ()):
            if figure["unit"] != "fits" and (figure["modelled"] or not figure["fits"]):
                yield error(figure["modelled"], figure["measured"]) if figure["modelled"] else None, figure["unit"]


def vendor_errors(data, kind, chip):
    """Errors of the vendor's rows of a kind; None where a plan does not fit."""
    of_chip = [row[chip] for row in data["vendor_rows"] if data["vendor_kinds"][row["kind"]]["name"] == kind]
    return [error(each["modelled"], each["vendor"]) if each["modelled"] else None for each in of_chip]


def ranges_of(data):
    """Between which parts of the predicted time the programs of each kind of step took."""
    ratios = {}
    for kind, (vendor, rows) in COMPARED.items():
        found = [1 / (1 + each) for name in vendor for chip in ("gc2", "gc200") for each in vendor_errors(data, name, chip)
                 if each is not None]
        found += [1 / (1 + each) if is_time(unit) else 1 + each
                  for each, unit in measured_errors(row for row in data["rows"] if row["row"] in rows) if each is not None]
        ratios[kind] = found
    ratios["others"] = every = [each for found in ratios.values() for each in found]
    return {kind: (min(found or every), max(found or every), len(found)) for kind, found in ratios.items()}


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
            if point["modelled"] and abs(error(point["modelled"], point["measured"])) > NOTABLE]


# ---- the plot

def plot(rows, pixel):
    """The errors of products over the measured rate, with bars of a pixel, as SVG."""
    width, height, left, right, top, bottom = 860, 430, 64, 20, 44, 52
    low, high, limit = math.log10(3), math.log10(300), 0.5

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
    for value in (-0.4, -0.2, 0, 0.2, 0.4):
        colour = "#555" if value == 0 else "#ccc"
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{colour}"/>')
        parts.append(text(left - 8, y(value) + 4, f"{100 * value:+.0f} %" if value else "0", "end"))
    for rate in (3, 10, 30, 100, 300):
        parts.append(f'<line x1="{x(rate):.1f}" x2="{x(rate):.1f}" y1="{top}" y2="{height - bottom}" stroke="#ddd"/>')
        parts.append(text(x(rate), height - bottom + 20, rate))
    parts.append(text((left + width - right) / 2, height - 12, "measured, Tflop/s (logarithmic)"))
    points = [(SERIES[row["row"]], x(point["measured"]), error(point["modelled"], point["measured"]), point)
              for row in rows if "points" in row for point in row["points"] if point["modelled"]]
    for (name, colour), centre, value, _ in points:
        ends = [y((1 + value) / (1 + side * pixel) - 1) for side in (1, -1)]
        parts.append(f'<line x1="{centre:.1f}" x2="{centre:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}"/>')
        parts.append(marker(name, centre, y(value), colour))
    taken = [(centre - 6, y(value) - 16, centre + 6, y(value) + 16) for _, centre, value, _ in points]
    for (_, colour), centre, value, point in points:
        if abs(value) > LABELLED:
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

def figure_rows(rows, ranges):
    """Lines of the table of figures: row, figure, measured, modelled, error, bound, source."""
    for row in rows:
        if "points" in row:
            values, alone = ([abs(each) for each in errors(row, of)] for of in ("modelled", "alone"))
            most_mean, most = BOUNDS[row["row"]]
            yield [row["row"], f"{row['what']}: {len(row['points'])} points, {len(values)} that fit", "below", "below",
                   f"mean {100 * mean(values):.1f} %, worst {100 * max(values):.0f} %", "", row["source"]]
            yield [row["row"], f"{row['what']}: `partition_product` alone", "below", "", f"mean {100 * mean(alone):.1f} %, worst "
                   f"{100 * max(alone):.0f} %", f"{100 * most_mean:.0f} and {100 * most:.0f} %", row["source"]]
        for figure in row.get("figures", ()):
            has_error = figure["modelled"] != 0 and figure["unit"] != "fits"
            yield [row["row"], f"{row['what']}: {figure['key']}", exactly(figure["measured"], figure["unit"]),
                   modelled(figure, ranges), percent(error(figure["modelled"], figure["measured"])) if has_error else "",
                   bound_of(row, figure) if "bound" in row and has_error else "",
                   row["source"]]


def bound_of(row, figure):
    least, most = row["bound"]
    is_within = least <= figure["modelled"] / figure["measured"] <= most
    return f"{100 * least - 100:+.0f} to {100 * most - 100:+.0f} %{'' if is_within else ', **beyond**'}"


def table_of_figures(rows, ranges):
    return table(["row", "figure", "measured", "modelled", "error", "bound", "source"], list(figure_rows(rows, ranges)), (1, 6))


def summary_of(values):
    """Rows, those that fit, and errors without sign: their mean, and the worst with its sign."""
    fitting = [each for each in values if each is not None]
    if not fitting:
        return [f"{len(values)}, 0 fit", "", ""]
    count = str(len(values)) if len(fitting) == len(values) else f"{len(values)}, {len(fitting)} fit"
    return [count, f"{100 * mean([abs(each) for each in fitting]):.1f} %", percent(max(fitting, key=abs), 0)]


def table_of_kinds(data):
    """Errors by kind: of the vendor's rows by chip, then of measured rows."""
    lines = []
    for kind in data["vendor_kinds"]:
        for chip in ("gc2", "gc200"):
            values = vendor_errors(data, kind["name"], chip)
            found = summary_of(values)
            fitting = [each for each in values if each is not None]
            is_within = mean([abs(each) for each in fitting]) <= kind["most_mean"] and all(
                kind["least"] <= 1 + each <= kind["most"] for each in fitting)
            lines.append([kind["name"], f"vendor's simulator, {chip}", *found, f"{100 * kind['most_mean']:.0f} %",
                          "yes" if is_within else "**no**"])
    for name, numbers in MEASURED.items():
        lines.append([name, f"measured, row{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}",
                      *summary_of([each for each, _ in measured_errors(row for row in data["rows"] if row["row"] in numbers)]), "", ""])
    return table(["kind", "beside", "rows", "mean error", "worst", "bound of the mean", "within"], lines, (0, 1, 6))


def table_of_ranges(ranges):
    return table(["kind of step", "figures", "least", "most"],
                 [[kind, str(count), f"{least:.2f}", f"{most:.2f}"] for kind, (least, most, count) in ranges.items()], (0,))


def table_of_vendor(data):
    lines = []
    for row in data["vendor_rows"]:
        cells = []
        for chip in ("gc2", "gc200"):
            each = row[chip]
            cells += [f"{each['vendor']:,}", f"{each['modelled']:,}" if each["modelled"] else f"does not fit ({100 * each['share']:.0f} %)",
                      percent(error(each["modelled"], each["vendor"]), 0) if each["modelled"] else ""]
        lines.append([data["vendor_kinds"][row["kind"]]["name"], row["name"], *cells])
    return table(["kind", "program", *(f"{chip}{what}" for chip in ("gc2", "gc200") for what in (", vendor", ", modelled", ", error"))],
                 lines, (0, 1))


def faster_rows(data):
    """The programs whose plans take less than NOTABLY_FASTER of the vendor's cycles."""
    found = [f"{row['name']} ({', '.join(chips)})" for row in data["vendor_rows"]
             if (chips := [chip for chip in ("gc2", "gc200") if 0 < row[chip]["modelled"] < NOTABLY_FASTER * row[chip]["vendor"]])]
    return (f"Plans that take less than {100 * NOTABLY_FASTER:.0f} % of the vendor's cycles count as errors, too, whether the plan is "
            f"better or the model too fast: {'; '.join(found) or 'none'}.")


def header_of(ranges):
    """The header with the ranges of kinds of steps."""
    lines = "\n".join(f'    {{"{kind}", {least:.2f}, {most:.2f}}},  // {count} figures' for kind, (least, most, count) in ranges.items())
    return f"""#pragma once
// ./dev bench fidelity --write makes this header: how far plans of each kind were from others' figures.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tilewright {{

/// Kinds of steps that were compared with others' figures. The last one is what nothing was compared with.
enum class ComparedKind : std::uint8_t {{ {", ".join(ranges)} }};

/// Between which parts of the predicted time the programs of a kind took.
struct RangeOfKind {{
  std::string_view name;
  double least, most;
}};
inline constexpr RangeOfKind compared_kinds[] = {{
{lines}
}};
inline constexpr std::size_t compared_kind_count = std::size(compared_kinds);

}}  // namespace tilewright
"""


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
            if point and not point["modelled"]:
                cells.append(f"{point['measured']:.1f} / does not fit")
                continue
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
            lines.append([row["row"], f"{row['what']}: {figure['key']}", *(f"{share:.0f}" for share in shares),
                          f"{100 * whole:.0f}", f"{1 / whole:.2f}"])
    return table(["row", "figure", *kinds, "all", "modelled / measured rate"], lines, (1,))


def page(data):
    rows, ranges = data["rows"], ranges_of(data)
    alone = " and ".join(f"{100 * mean([abs(each) for each in errors(row, 'alone')]):.1f}" for row in rows if "points" in row)
    parts = ["# The model beside measurements", wrap_paragraphs(INTRODUCTION), "## Errors by kind", table_of_kinds(data),
             wrap_paragraphs(IN_VIEW), "## Banks", wrap_paragraphs(BANKS.format(banks=data["banks"])), "## Ranges",
             wrap_paragraphs(RANGES), table_of_ranges(ranges), "## All figures", table_of_figures(rows, ranges),
             "## The vendor's simulator", wrap_paragraphs(VENDOR), table_of_vendor(data), wrap(faster_rows(data)),
             "## Products", wrap_paragraphs(ASSUMED.format(pixel=f"{100 * data['pixel']:.1f}", alone=alone)),
             f"![Errors of products by measured rate](../images/{Path(PLOT).name})",
             f"Points that are off by more than {100 * NOTABLE:.0f} %:", table_of_notable(rows),
             "All points of (n, m) by (m, m): measured / modelled Tflop/s, and the error."]
    for row in rows:
        if "points" in row:
            parts += [f"### {SERIES[row['row']][0]}", table_of_points(row)]
    parts += ["## Where the cycles of networks go", wrap_paragraphs(OF_NETWORKS), table_of_cycles(rows)]
    parts += ["## What is computed, and what is missing", wrap_list(notes(rows)), "## Rows that are not computed",
              table(["row", "what", "configuration", "why not"],
                    [[row["row"], row["what"], row["configuration"], row["unused"]] for row in rows if "unused" in row],
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
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}, its plot, and {HEADER}")
    parser.add_argument("--check", action="store_true", help=f"fail if {PAGE}, its plot or {HEADER} is not what --write writes")
    parser.add_argument("--banks", choices=("as_allocated", "best"), default="as_allocated",
                        help="where plans have operands in memory: as Poplar allocates, or in different banks wherever that is faster")
    parser.add_argument("--rows", type=Path, metavar="FILE.csv", help="compare these measurements instead: see benchmarks/fidelity_rows.py")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="with --rows: a row for each measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="with --rows: the same, and the errors by kind")
    options = parser.parse_args()
    if options.rows:
        return fidelity_rows.main(options, options.program or options.build_dir / "benchmarks/fidelity_user_rows")
    if options.csv or options.json:
        parser.error("--csv and --json: --rows expected")
    program = options.program or options.build_dir / "benchmarks/fidelity_rows"
    if options.banks == "best" and (options.write or options.check):
        parser.error("--banks best: the page has as_allocated: neither --write nor --check expected")
    data = json.loads(subprocess.run([program, options.banks], stdout=subprocess.PIPE, check=True, text=True).stdout)
    ranges = ranges_of(data)
    files = {PAGE: page(data), PLOT: plot(data["rows"], data["pixel"]), HEADER: header_of(ranges)}
    if options.write:
        for name, text in files.items():
            (PROJECT / name).write_text(text)
        return 0
    if options.check:
        stale = [name for name, text in files.items() if not (PROJECT / name).exists() or (PROJECT / name).read_text() != text]
        for name in stale:
            print(f"{name}: what ./dev bench fidelity --write writes expected")
        return bool(stale)
    print(f"banks: {data['banks']}\n\n{table_of_kinds(data)}\n\n{table_of_figures(data['rows'], ranges)}\n\n"
          f"{table_of_vendor(data)}\n\n{table_of_notable(data['rows'])}")
    for row in data["rows"]:
        if "unused" in row:
            print(f"\nrow {row['row']}, {row['what']}: {row['unused']}", end="")
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
