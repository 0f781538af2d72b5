#!/usr/bin/env python3
"""Asks one question of 500 designs: half the memory, or twice the exchange, for a layer of a transformer? This is `./dev bench study`.

With --write, it writes docs/generated/study.md, the chart docs/images/study.svg, and docs/generated/laboratory-columns.md, which says what
the columns of rows are. The program is benchmarks/lab/bert_layer.hpp, and the designs are GRID. Nothing runs on a machine: all figures are
the planner's.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import lab

PROJECT = Path(__file__).resolve().parents[1]
PAGE, CHART, COLUMNS = "docs/generated/study.md", "docs/images/study.svg", "docs/generated/laboratory-columns.md"
GRID = {"tiles": "184..1840:184", "bytes_per_tile": "78Ki..780Ki:78Ki", "exchange_bytes_per_cycle": "2..32*2"}
PRESET = {"tiles": 1472, "bytes_per_tile": 624 * 1024, "exchange_bytes_per_cycle": 4}
CASES = {"the preset": {}, "half the memory": {"bytes_per_tile": 312 * 1024}, "twice the exchange": {"exchange_bytes_per_cycle": 8},
         "both": {"bytes_per_tile": 312 * 1024, "exchange_bytes_per_cycle": 8}}

TEXT = """\
# Half the memory, or twice the exchange?

This page is made by `./dev bench study --write`. An architect may halve the memory of a tile, or double what a tile receives in a
cycle. What does a training step of a layer of BERT-Large (128 tokens, float16) say? These commands answer:

```sh
{command}
./dev lab bert_layer --bytes_per_tile 312Ki,624Ki --exchange 4,8
```

The first one plans {count} designs; {fitting} of them fit. A grid planned twice gives the same bytes.

{answer}

{cases}

![Time by memory of all tiles](../images/study.svg)

Beside a time is [the range](fidelity.md#ranges) of the program's kinds of steps. A dot is a design. The line joins those that no
other beats in both memory and time; the program does not fit on rings.

## What limits the designs

Of the {fitting} designs that fit, and of those with the preset's exchange of 4 bytes and with 8:

{limits}

## The front

{front}
"""

TEXT_OF_COLUMNS = """\
# Columns of a laboratory's rows

This page is made by `./dev bench study --write` of what `--columns` prints. [The laboratory](../how-to/laboratory.md) writes such rows as
CSV and JSON. Rows also have the knobs in which they differ from their presets, in the units of `--knobs`.

{columns}
"""


def plan(program):
    arguments = [program, *(each for knob, values in GRID.items() for each in (f"--{knob}", values)), "--json", "-"]
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout


def design(rows, changes):
    wanted = {**PRESET, **changes}
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def table(head, lines, texts):
    bars = ["---" if place in texts else "---:" for place in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, bars, *lines))


def figures(row):
    """Time, cycles of exchange in percent, memory and limit of a design."""
    chip = lab.Chip(row)
    exchange = f"{100 * row['cycles_exchange'] / row['cycles']:.0f} %" if row["fits"] else "none"
    return [lab.time_of(chip) if row["fits"] else "does not fit", exchange, lab.share_of_tile(chip), chip.limit]


def answer(rows):
    preset, half, twice = (design(rows, CASES[name]) for name in ("the preset", "half the memory", "twice the exchange"))
    faster = preset["seconds"] / twice["seconds"]
    text = f"**Twice the exchange makes the step {faster:.2f} times as fast.** "
    if half["fits"]:
        change = 100 * (half["seconds"] / preset["seconds"] - 1)
        return text + f"With half the memory it still fits, and its time changes by {change:+.1f} %."
    return text + "With half the memory it does not fit, whatever the exchange is."


def limits(rows):
    """How many designs each part of the cycles limits."""
    fitting = [row for row in rows if row["fits"]]
    groups = (fitting, *([row for row in fitting if row["exchange_bytes_per_cycle"] == rate] for rate in (4, 8)))
    names = sorted({row["limit"] for row in fitting})
    lines = [[name, *(str(sum(row["limit"] == name for row in group)) for group in groups)] for name in names]
    return table(["limit", "all", "4 bytes/cycle", "8 bytes/cycle"], lines, (0,))


def page(rows):
    front = [chip.row for chip in lab.front([lab.Chip(row) for row in rows])]
    knobs = [[f"{row['tiles']:,}", f"{row['bytes_per_tile'] // 1024}", str(row["exchange_bytes_per_cycle"])] for row in front]
    return TEXT.format(
        command="./dev lab bert_layer " + " ".join(f"--{knob} '{values}'" if "*" in values else f"--{knob} {values}"
                                                   for knob, values in GRID.items()),
        count=len(rows), fitting=sum(row["fits"] for row in rows), answer=answer(rows),
        cases=table(["design", "time", "exchange", "of a tile's memory", "limit"],
                    [[name, *figures(design(rows, changes))] for name, changes in CASES.items()], (0, 4)),
        limits=limits(rows),
        front=table(["tiles", "KiB of a tile", "bytes/cycle", "time", "exchange", "of a tile's memory", "limit"],
                    [[*numbers, *figures(row)] for numbers, row in zip(knobs, front)], (6,)))


def columns(program):
    lines = subprocess.run([program, "--columns"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    found = [re.fullmatch(r"(\w+): ([^,]+)(?:, (.*))?", line).groups("") for line in lines]
    return TEXT_OF_COLUMNS.format(columns=table(["column", "unit", ""], [[f"`{name}`", *rest] for name, *rest in found], (0, 1, 2)))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=PROJECT / "build/gcc", help=argparse.SUPPRESS)
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)  # instead of the one of the build
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}, its chart, and {COLUMNS}")
    parser.add_argument("--check", action="store_true", help="fail if one of these is not what --write writes")
    options = parser.parse_args()
    program = options.program or options.build_dir / "benchmarks/lab_bert_layer"
    start = time.monotonic()
    planned = plan(program)
    seconds = time.monotonic() - start
    rows = json.loads(planned)
    chips = [lab.Chip(row) for row in rows]
    files = {PAGE: page(rows), CHART: lab.chart(chips, lab.front(chips), None) + "\n", COLUMNS: columns(program)}
    if options.write:
        for name, text in files.items():
            (PROJECT / name).write_text(text)
    if options.check:
        stale = [name for name, text in files.items() if not (PROJECT / name).exists() or (PROJECT / name).read_text() != text]
        for name in stale:
            print(f"{name}: what ./dev bench study --write writes expected")
        if plan(program) != planned:
            stale.append("the same bytes twice expected")
            print(stale[-1])
        return bool(stale)
    print(f"{len(rows)} designs in {seconds:.2f} s, SHA-256 of the rows {hashlib.sha256(planned).hexdigest()[:16]}")
    print(answer(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
