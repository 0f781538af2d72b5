#!/usr/bin/env python3
"""Plans a program for many chips, and writes one page that compares them: this is `./dev lab PROGRAM`.

PROGRAM is a source of benchmarks/lab, or a program that tilewright_lab made. Options with several numbers, divided by commas, are
combined: 3 numbers of tiles and 2 of memory make 6 chips. All other options are the program's, such as --base gc2,bow, --tiles 64..256:64
or --csv FILE: docs/how-to/laboratory.md lists them. What no option sets is as in the base. Nothing runs on a chip: all figures are the planner's.

    ./dev lab bert_layer --tiles 368,736,1472 --memory 256,624 --within 1
"""

import argparse
import html
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
    return sorted(source.stem for source in SOURCES.glob("*.hpp"))


def numbers(text):
    try:
        values = [int(each) for each in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': whole numbers from 1 on, divided by commas, expected")
    return values


def knobs_of(options):
    """The program's options for those with names of their own."""
    given = {"bytes_per_tile": options.memory and ",".join(f"{kib}Ki" for kib in options.memory),
             "exchange_bytes_per_cycle": options.exchange, "sync_cycles": options.barrier}
    return [each for knob, values in given.items() if values for each in (f"--{knob}", values)]


class Chip:
    """A row of the laboratory: a machine, and what a plan for it takes."""

    def __init__(self, row):
        self.row = row
        self.name, self.tiles, self.bytes_per_tile = row["machine"], row["tiles"], row["bytes_per_tile"]
        self.fits, self.seconds, self.fullest = row["fits"], row["seconds"], row["tile_bytes"]

    @property
    def bytes(self):
        """Memory of all tiles."""
        return self.tiles * self.bytes_per_tile

    @property
    def limit(self):
        return f"{self.row['limit']}, {100 * self.row['limit_share']:.0f} %"


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


def time_of(chip):
    """A predicted time, and between which times programs of its kinds were when they were compared with others' figures."""
    return f"{duration(chip.seconds)} ({duration(chip.row['seconds_least'])} to {duration(chip.row['seconds_most'])})"


def share_of_tile(chip):
    return f"{100 * chip.fullest / chip.bytes_per_tile:.0f} %"


def answers(chips, within):
    """Questions about the chips, with their answers."""
    fitting = [chip for chip in chips if chip.fits]
    yield "chips that fit", f"{len(fitting)} of {len(chips)}"
    if not fitting:
        closest = min(chips, key=lambda chip: chip.fullest / chip.bytes_per_tile)
        yield "closest", f"{name_of(closest)}: {share_of_tile(closest)} of a tile's memory needed"
        return
    fastest = min(fitting, key=lambda chip: (chip.seconds, chip.bytes))
    yield "fastest", f"{name_of(fastest)}: {time_of(fastest)}"
    least = fewest_tiles(chips)
    yield "fewest tiles, then least memory", f"{name_of(least)}: {time_of(least)}"
    if within is not None:
        chip = least_memory(chips, within)
        found = f"{name_of(chip)}, {chip.bytes / 2**20:,.0f} MiB: {time_of(chip)}" if chip else "no chip is fast enough"
        yield f"least memory within {duration(within)}", found


def chart(chips, front_of_chips, within):
    """Time over the memory of all tiles, both logarithmic, with the Pareto front, as SVG. A chip on which the program does not fit
    has no time: it is on the upper edge."""
    width, height, left, right, top, bottom = 900, 420, 80, 24, 20, 52

    def scale(values, begin, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max((high - low) * 0.06, 0.02)
        return lambda value: begin + (math.log10(value) - low + margin) / (high - low + 2 * margin) * (end - begin)

    times = [chip.seconds for chip in chips if chip.fits] + ([within] if within else [])
    x = scale([chip.bytes for chip in chips], left, width - right)
    y = scale(times, height - bottom, top) if times else None
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" '
             'fill="#444" role="img" aria-label="Time by memory of all tiles">',
             f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#888"/>']
    for value in ticks([chip.bytes / 2**20 for chip in chips]):
        at = x(value * 2**20)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{height - bottom}" stroke="#e3e6ec"/>'
                     f'<text x="{at:.1f}" y="{height - bottom + 20}" text-anchor="middle">{value:g}</text>')
    for value in ticks([1e6 * time for time in times]) if times else ():
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
        found = time_of(chip) if chip.fits else f"does not fit, {share_of_tile(chip)} of a tile's memory needed"
        parts.append(f'<circle cx="{x(chip.bytes):.1f}" cy="{y(chip.seconds) if chip.fits else top:.1f}" r="5" fill="{fill}" stroke="'
                     f'{"#8d96a5" if fill != "#1d5fbf" else fill}"><title>{html.escape(chip.name)}: {found}; {chip.limit}</title>'
                     '</circle>')
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


def varied(rows):
    """The knobs of which rows have several values, with those that each page shows."""
    names = list(rows[0])
    knobs = names[names.index("base") + 1:names.index("fits")]
    return [name for name in knobs if name in ("tiles", "bytes_per_tile") or len({row[name] for row in rows}) > 1]


def energy(chip):
    """Energy of a run and power of a chip, of the terms that are known, with the ratio to a published power."""
    if not chip.fits:
        return "none"
    ratio = chip.row["watts_by_published"]
    beside = "" if ratio is None else f", {ratio:.2f} of {chip.row['published_watts']:g} W"
    return f"{chip.row['joules']:.3g} J, {chip.row['watts']:.3g} W{beside}"


def page(title, rows, within):
    chips = [Chip(row) for row in rows]
    on_front = front(chips)
    knobs = varied(rows)
    head = ["base", *(name.replace("_", " ") for name in knobs), "cycles", "time", "energy", "fullest tile, bytes", "of its memory",
            "what limits"]
    lines = []
    for chip in sorted(chips, key=lambda chip: (not chip.fits, chip.seconds or chip.fullest / chip.bytes_per_tile)):
        times = [f"{chip.row['cycles']:,}", time_of(chip)] if chip.fits else ["none", "none"]
        cells = [chip.row["base"], *(f"{chip.row[name]:,}" for name in knobs), *times, energy(chip), f"{chip.fullest:,}",
                 share_of_tile(chip), chip.limit]
        kind = ' class="front"' if chip in on_front else "" if chip.fits else ' class="no"'
        lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    found = "".join(f"<tr><td>{html.escape(question)}</td><td>{html.escape(answer)}</td></tr>"
                    for question, answer in answers(chips, within))
    missing = sorted({name for row in rows if row["fits"] for name in row["joules_not_known"].split()})
    terms = f" Not known, and not in it: {', '.join(missing)}." if missing else ""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)} on {len(chips)} chips</title><style>{STYLE}</style>
<h1>{html.escape(title)} on {len(chips)} chips</h1>
<p>Plans for chips like {html.escape(", ".join(sorted({row["base"] for row in rows})))}, with other numbers. Nothing ran: all figures \
are the planner's. Beside a time is the range of the kinds of steps that the program consists of, as they were compared with
others' figures (docs/generated/fidelity.md). Energy and power are those of the terms that are known, beside the published power of a chip.{terms}</p>
<table>{found}</table>
{chart(chips, on_front, within)}
<p>A dot is a chip, and the line joins those that no other beats in both memory and time. The program does not fit on chips that
are drawn as rings, and has no time there. Point at a dot for its machine.</p>
<table><tr>{"".join(f"<th>{cell}</th>" for cell in head)}</tr>
{chr(10).join(lines)}
</table></html>
"""


def main():
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=PROJECT / "build/gcc", help=argparse.SUPPRESS)
    parser.add_argument("program", help=f"{', '.join(programs())}, or the path of a program")
    parser.add_argument("--memory", type=numbers, metavar="N,...", help="memory of a tile, in KiB")
    parser.add_argument("--exchange", metavar="N,...", help="bytes that a tile receives in a cycle")
    parser.add_argument("--barrier", metavar="N,...", help="cycles of a barrier")
    parser.add_argument("--within", type=float, metavar="MS", help="asks for the least memory that takes at most MS milliseconds")
    parser.add_argument("--into", type=Path, help="the page (build/lab/PROGRAM.html)")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="the chart alone, as SVG")
    options, others = parser.parse_known_args()
    if options.within is not None and not options.within > 0:
        parser.error("--within: a number above 0 expected")
    program = options.build_dir / f"benchmarks/lab_{options.program}"
    if options.program not in programs():
        program = Path(options.program).resolve()
        if not program.is_file():
            parser.error(f"program '{options.program}': {', '.join(programs())}, or the path of a program, expected")
    arguments = [str(program), *knobs_of(options), *others]
    if "--knobs" in others or "--columns" in others:
        return subprocess.run(arguments).returncode
    answer = subprocess.run([*arguments, "--json", "-"], stdout=subprocess.PIPE, text=True)
    if answer.returncode:  # the program has said why
        return answer.returncode
    rows = json.loads(answer.stdout)
    for row in rows:
        if row["problem"]:
            print(f"{row['machine']}: {row['problem']}")
    rows = [row for row in rows if not row["problem"]]
    if not rows:
        return 1
    title = program.stem.removeprefix("lab_")
    within = options.within and options.within / 1e3
    into = options.into or PROJECT / f"build/lab/{title}.html"
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(page(title, rows, within))
    chips = [Chip(row) for row in rows]
    if options.chart:
        options.chart.write_text(chart(chips, front(chips), within) + "\n")
    for question, found in answers(chips, within):
        print(f"{question}: {found}")
    print(into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
