#!/usr/bin/env python3
"""Measures what README.md shows below "Measured", and updates its figures; no other word changes. RESULTS.md gets a row for each line,
with machine, commit and date.

Everything runs on two cores, and the machine must have no other work. What cannot be measured stays as it is, and the output names it:
figures of PyTorch or oneDNN if they are not installed, and accuracies without the files of MNIST. This script builds nothing:
`./dev bench readme` does.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from datetime import date
from pathlib import Path
from statistics import median

from threads import version as commit

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
RESULTS = HERE / "RESULTS.md"
WORKS = ("W1", "W2", "W4", "W5")
COLUMNS = 130

SECTION = re.compile(r"^## Measured\n.*?(?=^## |^Next:|\Z)", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
# In the sentences above the table: what a group of each pattern holds.
TEXTS = {"processor": r"two\s+cores\s+of\s+(an?\s[^,]*),", "GCC": r"\bGCC\s+(\d[\d.]*\d)",
         "PyTorch": r"PyTorch\s+is\s+(\d[\d.]*\d)",
         "oneDNN, W4": r"encoder\s+block\s+([\d.]+)\s+times", "oneDNN, W5": r"convolutional\s+network\s+([\d.]+)\s+times"}
RESULTS_TABLE = re.compile(r"^\| the README's figures \|.*\n(?:\|.*\n)+", re.MULTILINE)
HEAD = re.compile(r"^\| *\| tilewright \| PyTorch (\S+) \| command \|$", re.MULTILINE)


def row(command):
    """The cells of tilewright and of PyTorch in the line of a command."""
    return re.compile(rf"^\|[^|\n]*\| ([^|\n]*) \| ([^|\n]*?) ?\| `{re.escape(command)}[^`]*` \|$", re.MULTILINE)


ROWS = {work: row(f"./dev bench --only {work}") for work in (*WORKS, "start")} | {"accuracy": row("./dev mnist --data DIR")}


def found(pattern, text, what):
    matches = list(re.finditer(pattern, text))
    if len(matches) != 1:
        pattern = getattr(pattern, "pattern", pattern)
        raise ValueError(f"README.md, Measured: {what}: one place like {pattern} expected, not {len(matches)}")
    return matches[0]


def number(value, key):
    if key == "accuracy" or key.startswith("oneDNN"):
        return f"{value:.2f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def numbers(cell):
    return [float(each.replace(",", "")) for each in NUMBER.findall(cell)]


def section_of(readme):
    return found(SECTION, readme, "the section")


def figures_of(readme):
    """What the README says: a text by each key of TEXTS, a list of numbers by each (key of ROWS, column)."""
    section = section_of(readme)[0]
    figures = {}
    for key, pattern in TEXTS.items():
        value = " ".join(found(pattern, section, key)[1].split())
        figures[key] = float(value) if key.startswith("oneDNN") else value
    for key, pattern in ROWS.items():
        cells = found(pattern, section, f"the line of {key}")
        figures |= {(key, column): numbers(cells[group]) for group, column in ((1, "tilewright"), (2, "PyTorch"))}
    return figures


def replaced(match, group, text):
    """The whole match with another text in the place of a group."""
    begin, end = (place - match.start() for place in match.span(group))
    return match[0][:begin] + text + match[0][end:]


def with_numbers(cell, values, key):
    texts = [number(value, key) for value in values]
    if len(NUMBER.findall(cell)) != len(texts):
        raise ValueError(f"README.md, Measured: {key}: {len(texts)} numbers expected in {cell!r}")
    return NUMBER.sub(lambda _: texts.pop(0), cell)


def longest_line(section):
    return max(len(line) for line in section.splitlines() if not line.startswith("|"))


def wrapped(section, columns):
    """The section, with its sentences wrapped at COLUMNS."""
    def wrap(match):
        return textwrap.fill(match[0], columns, break_long_words=False, break_on_hyphens=False) + "\n"

    return re.sub(r"^(?:[^#|\n].*\n)+", wrap, section, flags=re.MULTILINE)


def rewritten(readme, figures):
    """The README with these figures. Those that are missing or empty stay."""
    old = section = section_of(readme)[0]

    def put(pattern, group, text, what):
        nonlocal section
        match = found(pattern, section, what)
        section = section[:match.start()] + replaced(match, group, text(match[group])) + section[match.end():]

    for key, value in figures.items():
        if isinstance(key, tuple) and value:
            group = 1 if key[1] == "tilewright" else 2
            put(ROWS[key[0]], group, lambda cell: with_numbers(cell, value, key[0]), f"the line of {key[0]}")
        elif key in TEXTS and value:
            text = value if isinstance(value, str) else number(value, key)
            put(TEXTS[key], 1, lambda before: before if before.split() == text.split() else text, key)
            if key == "PyTorch":
                put(HEAD, 1, lambda _: text, "the head of the table")
    columns = max(COLUMNS, longest_line(old))
    return readme.replace(old, section if longest_line(section) <= columns else wrapped(section, columns))


def with_rows(results, readme, keys, *origin):
    """RESULTS.md with new rows at the end of its table of the README's figures: what the README says now in the lines of some keys."""
    match = found(RESULTS_TABLE, results, "the table in RESULTS.md")
    rows = ""
    for key in keys:
        cells = [cell.strip() for cell in found(ROWS[key], section_of(readme)[0], f"the line of {key}")[0].split("|")[1:-2]]
        rows += f"| {' | '.join([*cells, *origin])} |\n"
    return results[:match.end()] + rows + results[match.end():]


def figures_of_suite(raw):
    """What the figures of suite.py's --json say."""
    figures = {}
    for what, programs in raw.items():
        work = what.split()[0]
        if work not in WORKS or not isinstance(programs, list):
            continue
        rates = {}  # by label and threads: of several forms or settings, the fastest
        for program in programs:
            key = program["program"], program["command"][-1]
            rates[key] = max(rates.get(key, 0), median(program["it/s"]))
        ours = {threads: rate for (label, threads), rate in rates.items() if label == threads}
        peers = {threads: rate for (label, threads), rate in rates.items() if label == "PyTorch"}
        figures[work, "tilewright"] = [ours["1"], ours["2"]]
        figures[work, "PyTorch"] = [peers["1"], peers["2"]] if peers else []
        if one_dnn := rates.get(("oneDNN", "1")):
            figures[f"oneDNN, {work}"] = ours["1"] / one_dnn
    for label, seconds in raw.get("start", {}).items():
        figures["start", label] = [1000 * median(seconds)]
    return figures


def two_cores():
    """Two of this process's cores, of different physical ones if there are such."""
    cores = sorted(os.sched_getaffinity(0))

    def siblings(core):
        path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        return path.read_text() if path.exists() else str(core)

    first = cores[0]
    return {first, next((core for core in cores if siblings(core) != siblings(first)), cores[-1])}


def processor():
    """`an AMD EPYC with AVX-512`."""
    text = Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*:\s*(.*)", text, re.MULTILINE)
    name = re.sub(r"\((R|TM)\)|@.*|\bCPU\b|\bProcessor\b|\b\d+-Core\b", " ", name[1] if name else "processor")
    name = " ".join(name.split())
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}{' with AVX-512' if ' avx512f' in text else ''}"


def version_of(command):
    """The first two numbers of a version that a command prints; empty if it fails."""
    result = subprocess.run(command, capture_output=True, text=True)
    match = re.match(r"\d+\.\d+", result.stdout)
    return match[0] if result.returncode == 0 and match else ""


def accuracy(build_dir, data, seed):
    command = [build_dir / "examples/mnist", "--data", data, "--seed", str(seed)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return float(re.search(r"Accuracy on test set: ([\d.]+)%", output)[1])


def measured(options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        subprocess.run([sys.executable, HERE / "suite.py", "--build-dir", options.build_dir, "--only", ",".join((*WORKS, "start")),
                        "--rounds", str(options.rounds), "--seconds", str(options.seconds), "--json", path], check=True)
        figures = figures_of_suite(json.loads(path.read_text())["raw"])
    figures |= {"processor": processor(), "GCC": version_of(["g++", "-dumpfullversion"]),
                "PyTorch": version_of(["/usr/bin/python3", "-c", "import torch; print(torch.__version__)"])}
    if options.data:
        figures["accuracy", "tilewright"] = [accuracy(options.build_dir, options.data, seed) for seed in (1, 2, 3)]
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--data", type=Path, default=os.environ.get("TILEWRIGHT_MNIST"), metavar="DIR",
                        help="the four files of MNIST (default: the folder that TILEWRIGHT_MNIST names)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each program in each round")
    options = parser.parse_args()
    before = README.read_text()
    old = figures_of(before)  # an error of the README ends the program before anything is measured
    os.sched_setaffinity(0, two_cores())
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("two cores are needed")
    origin = f"Two cores of {processor()}", commit(), date.today().isoformat()  # before anything is written
    new = measured(options)
    if left := [key for key, value in old.items() if value and not new.get(key)]:
        names = "; ".join(key if isinstance(key, str) else " of ".join(key) for key in left)
        print(f"not measured, and left as they are: {names}", file=sys.stderr)
    README.write_text(rewritten(before, new))
    keys = [key for key in ROWS if new.get((key, "tilewright"))]
    RESULTS.write_text(with_rows(RESULTS.read_text(), README.read_text(), keys, *origin))


if __name__ == "__main__":
    main()
