#!/usr/bin/env python3
"""Shows where the seconds of compiling one source go, by phase, with GCC and with Clang: this is `./dev bench compiling`.

GCC reports by -ftime-report: seconds of processor time, and memory that it allocated, of which a part is freed again. Clang
reports by -ftime-trace: seconds of wall time, so the machine should have no other work, and the templates and headers that take
most. Both reports slow the compilers down by some percent. The options are those that a user's target gets.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import build_costs

ROOT = Path(__file__).resolve().parent.parent
# GCC's timers. The phases are all; the others lie within them, and not within each other.
GCC_PHASES = {"phase setup": "start", "phase parsing": "reading headers and source",
              "phase lang. deferred": "templates at the end", "phase opt and generate": "optimising and generating",
              "phase last asm": "writing", "phase finalize": "end"}
GCC_WITHIN = {"template instantiation": "templates", "constant expression evaluation": "constant expressions",
              "|overload resolution": "choosing overloads", "|name lookup": "looking up names",
              "garbage collection": "collecting garbage"}
GCC_LINE = re.compile(r"^ (?P<name>\S.*?)\s*:\s*(?P<user>[\d.]+) \([^)]*\)\s+(?P<system>[\d.]+) \([^)]*\)\s+[\d.]+ \([^)]*\)\s+"
                      r"(?P<memory>\d+)(?P<unit>[kMG]?) ", re.MULTILINE)
UNITS = {"": 1e-6, "k": 1e-3, "M": 1, "G": 1e3}
CLANG_CONSTANTS = ("EvaluateAs", "EvaluateForOverflow", "EvaluateWithSubstitution", "CheckConstraintSatisfaction")


def as_users(command):
    """The command without the project's own options for GCC's memory, which follow the library's."""
    seen, result = set(), []
    for argument in command:
        name = argument.split("=")[1] if argument.startswith("--param=") else ""
        if not name or name not in seen:
            result.append(argument)
        seen.add(name)
    return result


def gcc_rows(report):
    """Of the text of -ftime-report: (what, seconds of processor time, megabytes allocated) of phases, and of parts of them."""
    found = {line["name"]: (float(line["user"]) + float(line["system"]), float(line["memory"]) * UNITS[line["unit"]])
             for line in GCC_LINE.finditer(report)}
    return [[(what, *found[name]) for name, what in names.items() if name in found] for names in (GCC_PHASES, GCC_WITHIN)]


def outermost(events, belongs):
    """The events that belong, and do not lie within another one that does."""
    end, result = -1, []
    for event in sorted((event for event in events if belongs(event["name"])), key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= end:
            end = event["ts"] + event["dur"]
            result.append(event)
    return result


def seconds(events):
    return sum(event["dur"] for event in events) / 1e6


def clang_rows(trace, count):
    """Of a file of -ftime-trace: (what, seconds) of phases, then the templates and the headers that take most."""
    events = [event for event in trace["traceEvents"] if event["ph"] == "X" and not event["name"].startswith("Total ")]
    front = seconds(outermost(events, lambda name: name == "Frontend"))
    templates = outermost(events, lambda name: name.startswith("Instantiate"))
    constants = outermost(events, lambda name: name.startswith(CLANG_CONSTANTS))
    back = seconds(outermost(events, lambda name: name == "Backend"))
    optimising = seconds(outermost(events, lambda name: name == "Optimizer"))
    phases = [("reading and checking", front), ("of it templates", seconds(templates)),
              ("of it constant expressions, some in templates", seconds(constants)), ("optimising", optimising),
              ("generating", back - optimising)]
    by_template = Counter()
    for event in templates:
        by_template[re.sub(r"<.*", "", event["args"].get("detail", "?"), flags=re.DOTALL)] += event["dur"] / 1e6
    return phases, by_template.most_common(count), header_seconds(trace["traceEvents"]).most_common(count)


def header_seconds(events):
    """Seconds by header, without those of the headers that it includes."""
    result, open_headers = Counter(), []
    for event in sorted((event for event in events if event["name"] == "Source"), key=lambda event: event["ts"]):
        if event["ph"] == "b":
            open_headers.append([event["args"]["detail"], event["ts"], 0])
        elif event["ph"] == "e" and open_headers:
            header, start, within = open_headers.pop()
            result[re.sub(r".*/include/", "", header)] += (event["ts"] - start - within) / 1e6
            if open_headers:
                open_headers[-1][2] += event["ts"] - start
    return result


def table(head, rows):
    width = max(len(row[0]) for row in rows)
    print(f"{'':{width}}  " + "  ".join(f"{each:>8}" for each in head))
    for what, *numbers in rows:
        print(f"{what:{width}}  " + "  ".join(f"{number:8.{0 if number >= 1000 else 2}f}" for number in numbers))


def compile_source(command, source):
    """What the compiler writes beside errors; ends the program if it fails."""
    process = subprocess.run([*command, *[f"-I{ROOT / folder}" for folder in ("examples", "benchmarks")], "-c", str(source)],
                             stderr=subprocess.PIPE, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    return process.stderr


def show_gcc(command, source):
    print(f"\nGCC: {source}")
    report = compile_source([*command, "-ftime-report", "-o", "/dev/null"], source)
    for rows in gcc_rows(report):
        table(("seconds", "MB"), rows)


def show_clang(command, source, count):
    print(f"\nClang: {source}")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        compile_source([*command, f"-ftime-trace={trace}", "-ftime-trace-granularity=100", "-o", "/dev/null"], source)
        phases, templates, headers = clang_rows(json.loads(trace.read_text()), count)
    for what, rows in (("", phases), ("templates", templates), ("headers", headers)):
        print(what)
        table(("seconds",), rows)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench compiling", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "examples/mnist.cpp", help="examples/mnist.cpp by default")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/gcc", help="configured by the preset bench")
    parser.add_argument("--clang-build-dir", type=Path, default=ROOT / "build/clang", help="configured by the preset bench-clang")
    parser.add_argument("--most", type=int, default=12, help="lines of templates and of headers")
    options = parser.parse_args()
    if not options.source.is_file():
        parser.error(f"{options.source}: a source file expected")
    show_gcc(as_users(build_costs.compile_command(options.build_dir, "mnist_sgd")[0]), options.source)
    if (options.clang_build_dir / "compile_commands.json").exists() and shutil.which("clang++-19"):
        show_clang(build_costs.compile_command(options.clang_build_dir, "mnist_sgd")[0], options.source, options.most)


if __name__ == "__main__":
    main()
