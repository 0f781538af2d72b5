#!/usr/bin/env python3
"""Plans a program for many chips, and writes one page that compares them: this is `./dev lab PROGRAM`.

PROGRAM is a source of benchmarks/lab. Options with several numbers, divided by commas, are combined: 3 numbers of tiles and 2 of
memory make 6 chips. What an option does not set is as in the base. Nothing runs on a chip: all figures are the planner's.

    ./dev lab bert_layer --tiles 368,736,1472 --memory 256,624 --within 1
"""

import argparse
import html
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = PROJECT / "benchmarks/lab"
STYLE = """\
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: #1b2330;
       font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #dde1e8; } td { white-space: nowrap; }
th:last-child, td:last-child { text-align: left; } tr.no { color: #6b7484; } tr.front td { background: #e5eefb; }
svg { max-width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: #444; } p { max-width: 48rem; }"""


def programs():
    return sorted(source.stem for source in SOURCES.glob("*.cpp"))


def numbers(text):
    try:
        values = [int(each) for each in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': whole numbers from 1 on, divided by commas, expected")
    return values


def chips_of(options):
    """All combinations of the options' numbers."""
    given = {"tiles": options.tiles, "bytes_per_tile": options.memory and [1024 * each for each in options.memory],
             "exchange_bytes": options.exchange, "barrier": options.barrier}
    given = {key: values for key, values in given.items() if values}
    return [{"base": options.base, **dict(zip(given, values))} for values in itertools.product(*given.values())]


class Chip:
    """What a plan for a chip takes."""

    def __init__(self, figures):
        self.tiles, self.bytes_per_tile = figures["tiles"], figures["bytes_per_tile"]
        self.exchange, self.barrier = figures["exchange_bytes"], figures["barrier"]
        self.seconds, self.cycles, self.memory = figures["seconds"], figures["cycles"], figures["memory"]

    @property
    def fullest(self):
        return sum(self.memory.values())

    @property
    def fits(self):
        return self.fullest <= self.bytes_per_tile

    @property
    def bytes(self):
        """Memory of all tiles."""
        return self.tiles * self.bytes_per_tile

    @property
    def limit(self):
        """What limits it: the largest part of what does not fit, or of the cycles."""
        parts, of = (self.cycles, "time") if self.fits else (self.memory, "memory")
        name, value = max(parts.items(), key=lambda part: part[1])
        return f"{of}: {name}, {100 * value / sum(parts.values()):.0f} %"


def front(chips):
    """Chips that fit, of which no other has at most as much memory and takes at most as long: from the least memory on."""
    result = []
    for chip in sorted((chip for chip in chips if chip.fits), key=lambda chip: (chip.bytes, chip.seconds, chip.tiles)):
        if not result or chip.seconds < result[-1].seconds:
            result.append(chip)
    return result


def fewest_tiles(chips):
    """Of chips that fit, the one with the fewest tiles, and of those with the least memory."""
    return min((chip for chip in chips if chip.fits), key=lambda chip: (chip.tiles, chip.bytes_per_tile, chip.seconds),
               default=None)


def least_memory(chips, seconds):
    """Of chips that fit and take at most as long, the one with the least memory of all tiles."""
    return min((chip for chip in chips if chip.fits and chip.seconds <= seconds),
               key=lambda chip: (chip.bytes, chip.seconds), default=None)


def name_of(chip):
    return f"{chip.tiles:,} tiles of {chip.bytes_per_tile / 1024:,.0f} KiB"


def duration(seconds):
    return f"{1e6 * seconds:,.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:,.3g} ms"


def answers(chips, within):
    """Questions about the chips, with their answers."""
    fitting = [chip for chip in chips if chip.fits]
    yield "chips that fit", f"{len(fitting)} of {len(chips)}"
    if not fitting:
        closest = min(chips, key=lambda chip: chip.fullest / chip.bytes_per_tile)
        yield "closest", f"{name_of(closest)}: {100 * closest.fullest / closest.bytes_per_tile:.0f} % of a tile's memory needed"
        return
    fastest = min(fitting, key=lambda chip: (chip.seconds, chip.bytes))
    yield "fastest", f"{name_of(fastest)}: {duration(fastest.seconds)}"
    least = fewest_tiles(chips)
    yield "fewest tiles, then least memory", f"{name_of(least)}: {duration(least.seconds)}"
    if within is not None:
        chip = least_memory(chips, within)
        found = f"{name_of(chip)}, {chip.bytes / 2**20:,.0f} MiB: {duration(chip.seconds)}" if chip else "no chip is fast enough"
        yield f"least memory within {duration(within)}", found


def chart(chips, front_of_chips, within):
    """Time over the memory of all tiles, both logarithmic, with the Pareto front, as SVG."""
    width, height, left, right, top, bottom = 900, 420, 80, 24, 20, 52

    def scale(values, begin, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max((high - low) * 0.06, 0.02)
        return lambda value: begin + (math.log10(value) - low + margin) / (high - low + 2 * margin) * (end - begin)

    times = [chip.seconds for chip in chips] + ([within] if within else [])
    x = scale([chip.bytes for chip in chips], left, width - right)
    y = scale(times, height - bottom, top)
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Time by memory of all tiles">',
             f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#888"/>']
    for value in ticks([chip.bytes / 2**20 for chip in chips]):
        at = x(value * 2**20)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{height - bottom}" stroke="#e3e6ec"/>'
                     f'<text x="{at:.1f}" y="{height - bottom + 20}" text-anchor="middle">{value:g}</text>')
    for value in ticks([1e6 * time for time in times]):
        at = y(value / 1e6)
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e3e6ec"/>'
                     f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{value:,g} us</text>')
    if within:
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(within):.1f}" y2="{y(within):.1f}" stroke="#a8470a" '
                     f'stroke-dasharray="6 4"/><text x="{width - right}" y="{y(within) - 6:.1f}" text-anchor="end">'
                     f'{duration(within)}</text>')
    if front_of_chips:
        line = " ".join(f"{x(chip.bytes):.1f},{y(chip.seconds):.1f}" for chip in front_of_chips)
        parts.append(f'<polyline points="{line}" fill="none" stroke="#1d5fbf" stroke-width="2"/>')
    for chip in sorted(chips, key=lambda chip: chip in front_of_chips):
        fill = "#1d5fbf" if chip in front_of_chips else "#8d96a5" if chip.fits else "none"
        parts.append(f'<circle cx="{x(chip.bytes):.1f}" cy="{y(chip.seconds):.1f}" r="5" fill="{fill}" stroke="'
                     f'{"#8d96a5" if fill != "#1d5fbf" else fill}"><title>{html.escape(name_of(chip))}: {duration(chip.seconds)}; '
                     f'{chip.limit}</title></circle>')
    parts.append(f'<text x="{(left + width) / 2}" y="{height - 10}" text-anchor="middle">memory of all tiles, MiB</text></svg>')
    return "\n".join(parts)


def ticks(values):
    """Round numbers between the least and the greatest value, for a logarithmic axis: at least two if there are any."""
    low, high = min(values), max(values)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        result = [step * 10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
                  for step in steps if low <= step * 10.0**power <= high]
        if len(result) >= 3:
            break
    return result


def page(title, base, data, within):
    chips = [Chip(figures) for figures in data["chips"]]
    on_front = front(chips)
    head = ["tiles", "KiB of a tile", "exchange, B/cycle", "barrier, cycles", "cycles", "time", "fullest tile, bytes",
            "of its memory", "what limits"]
    rows = []
    for chip in sorted(chips, key=lambda chip: (not chip.fits, chip.seconds)):
        cells = [f"{chip.tiles:,}", f"{chip.bytes_per_tile / 1024:,.0f}", chip.exchange, chip.barrier,
                 f"{sum(chip.cycles.values()):,}", duration(chip.seconds), f"{chip.fullest:,}", f"{100 * chip.fullest / chip.bytes_per_tile:.0f} %", chip.limit]
        kind = ' class="front"' if chip in on_front else "" if chip.fits else ' class="no"'
        rows.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    found = "".join(f"<tr><td>{html.escape(question)}</td><td>{html.escape(answer)}</td></tr>"
                    for question, answer in answers(chips, within))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)} on {len(chips)} chips</title><style>{STYLE}</style>
<h1>{html.escape(title)} on {len(chips)} chips</h1>
<p>Plans for chips like {html.escape(base)}, with other numbers. Nothing ran: all figures are the planner's. In products of matrices, \
its rates are off by {100 * data["float16_error"]:.1f} % in float16 and {100 * data["float32_error"]:.1f} % in float32, on average \
over 53 measured ones (docs/generated/fidelity.md).</p>
<table>{found}</table>
{chart(chips, on_front, within)}
<p>A dot is a chip, and the line joins those that no other beats in both memory and time. The program does not fit on chips that \
are drawn as rings. Point at a dot for its numbers.</p>
<table><tr>{"".join(f"<th>{cell}</th>" for cell in head)}</tr>
{chr(10).join(rows)}
</table></html>
"""


def main():
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=PROJECT / "build/gcc", help=argparse.SUPPRESS)
    parser.add_argument("program", choices=programs())
    parser.add_argument("--base", default="gc200", choices=("gc2", "gc200", "bow", "c600"), help="a chip (gc200)")
    parser.add_argument("--tiles", type=numbers, metavar="N,...", help="numbers of tiles")
    parser.add_argument("--memory", type=numbers, metavar="N,...", help="memory of a tile, in KiB")
    parser.add_argument("--exchange", type=numbers, metavar="N,...", help="bytes that a tile receives in a cycle")
    parser.add_argument("--barrier", type=numbers, metavar="N,...", help="cycles of a barrier")
    parser.add_argument("--within", type=float, metavar="MS", help="asks for the least memory that takes at most MS milliseconds")
    parser.add_argument("--into", type=Path, help="the page (build/lab/PROGRAM.html)")
    options = parser.parse_args()
    if options.within is not None and not options.within > 0:
        parser.error("--within: a number above 0 expected")
    program = options.build_dir / f"benchmarks/lab_{options.program}"
    answer = subprocess.run([program], input=json.dumps(chips_of(options)), stdout=subprocess.PIPE, check=True, text=True).stdout
    data = json.loads(answer)
    within = options.within and options.within / 1e3
    into = options.into or PROJECT / f"build/lab/{options.program}.html"
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(page(options.program, options.base, data, within))
    for question, found in answers([Chip(figures) for figures in data["chips"]], within):
        print(f"{question}: {found}")
    print(into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
