"""A user's measurements beside the model, for benchmarks/fidelity.py --rows.

FILE.csv has a line of names, and a row for each measurement. Columns that must be there: `kind` (product, reduction, convolution,
gather or scaled_add), `shape` (numbers divided by x: 1024x512x1024), `measured` and `unit` (cycles, us, ms or s). Others: `name`;
`base` (gc200), `dtype` (float16), and any knob of the laboratory, such as `clock_hz` or `partials_bits`. Streams from and to the host
are not counted. Operands are in banks of memory as Poplar allocates them, or, with --banks best, as is fastest.
"""

import csv
import io
import json
import math
import statistics
import subprocess
import sys

NEEDED = ("kind", "shape", "measured", "unit")
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def read(text):
    """The rows of a CSV, as the program takes them. Raises ValueError with the line for what is wrong."""
    lines = csv.DictReader(io.StringIO(text))
    missing = [name for name in NEEDED if name not in (lines.fieldnames or ())]
    if missing:
        raise ValueError(f"line 1: no {', '.join(missing)}: the columns {', '.join(NEEDED)} expected")
    rows = []
    for row in lines:
        try:
            given = {key: value.strip() for key, value in row.items()}
            measured = float(given.pop("measured"))
            if not measured > 0:
                raise ValueError("measured: a number above 0 expected")
            unit = given.pop("unit")
            if unit != "cycles" and unit not in SECONDS:
                raise ValueError(f"unit '{unit}': cycles, us, ms or s expected")
            shape = [int(number) for number in given.pop("shape").split("x")]
            rows.append({"line": lines.line_num, "kind": given.pop("kind"), "shape": shape, "measured": measured, "unit": unit,
                         "base": given.pop("base", "") or "gc200", "dtype": given.pop("dtype", "") or "float16",
                         "name": given.pop("name", ""), "numbers": {key: int(value) for key, value in given.items() if value}})
        except (AttributeError, TypeError) as wrong:
            raise ValueError(f"line {lines.line_num}: {len(lines.fieldnames)} cells expected") from wrong
        except ValueError as wrong:
            raise ValueError(f"line {lines.line_num}: {wrong}") from wrong
    return rows


def compare(rows, modelled):
    """A row each: what was measured, what the model says, and modelled / measured - 1. Empty where the op does not fit."""
    for row, of_model in zip(rows, modelled):
        value = of_model["cycles"] if row["unit"] == "cycles" else of_model["seconds"] / SECONDS[row["unit"]]
        value = value if of_model["fits"] else None
        yield {"kind": row["kind"], "name": row["name"], "machine": of_model["machine"], "shape": "x".join(map(str, row["shape"])),
               "dtype": row["dtype"], "unit": row["unit"], "measured": row["measured"], "modelled": value,
               "error": None if value is None else value / row["measured"] - 1}


def by_kind(rows):
    """The errors of each kind, and of all: mean and median without sign, the geometric mean of modelled / measured, the worst."""
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all"]:
        of_kind = [row for row in rows if kind in ("all", row["kind"])]
        errors = [row["error"] for row in of_kind if row["error"] is not None]
        result = {"kind": kind, "rows": len(of_kind), "that_fit": len(errors)}
        if errors:
            result |= {"mean": statistics.mean(map(abs, errors)), "median": statistics.median(map(abs, errors)),
                       "ratio": math.exp(statistics.mean(math.log(1 + each) for each in errors)), "worst": max(errors, key=abs)}
        yield result


def as_csv(rows):
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def table(kinds):
    yield f"{'kind':14}{'rows':>6}{'fit':>6}{'mean':>9}{'median':>9}{'ratio':>8}{'worst':>9}"
    for each in kinds:
        line = f"{each['kind']:14}{each['rows']:6}{each['that_fit']:6}"
        if "mean" in each:
            line += f"{100 * each['mean']:7.1f} %{100 * each['median']:7.1f} %{each['ratio']:8.2f}{100 * each['worst']:+7.0f} %"
        yield line


def main(options, program):
    try:
        rows = read(options.rows.read_text())
    except (OSError, ValueError) as wrong:
        print(f"{options.rows}: {wrong}", file=sys.stderr)
        return 2
    for row in rows:
        row["numbers"].setdefault("banks_as_allocated", int(options.banks == "as_allocated"))
    answer = subprocess.run([program], input=json.dumps(rows), stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        print(f"{options.rows}: see above", file=sys.stderr)
        return 2
    compared = list(compare(rows, json.loads(answer.stdout)))
    kinds = list(by_kind(compared))
    if options.csv:
        options.csv.write_text(as_csv(compared))
    if options.json:
        options.json.write_text(json.dumps({"rows": compared, "kinds": kinds}, indent=1) + "\n")
    print("\n".join(table(kinds)))
    return 0
