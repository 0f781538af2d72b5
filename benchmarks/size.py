#!/usr/bin/env python3
"""Bytes of networks as C libraries, without their memory: this is `./dev bench size`.

Each library is made by `./dev export` with -Os for x86-64-v3. `text` has code and constants, `data` constants with addresses. The
memory of a network is the caller's, and is in neither. It fails if a library is larger than what it may have."""

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SMALL, README = PROJECT / "tests" / "embedded" / "net.hpp", PROJECT / "examples" / "embedded" / "net.hpp"
SECTION = re.compile(r"^\.(?:text|rodata|data|init_array|eh_frame)(?:\.(?:unlikely|rel|ro|local|cst\d+|str[\d.]+))*(?:\.(\w+).*)?$")
# What a section is for, by the name of its function or table; the first that fits.
PURPOSES = {"initial values": "fill_|draw_normal|write_|skip_variable|rounded_down|Random",
            "steps and tables": "SerialRun|StaticProgram|StaticPrograms|SharedVariables|Grid<|compute_functions|ExportedPrograms|take_faults",
            "kernels": "kernel::|run_vertices|run_stage|for_each_offset|compute|math::"}


@dataclass
class Network:
    name: str
    source: Path
    programs: list
    most: int  # bytes of text and data


NETWORKS = [Network("784-32-10, inference", SMALL, ["infer"], 14_000),
            Network("784-32-10, a training step of 8", SMALL, ["train_step"], 40_000),
            Network("README's network, a training step of 8 and inference", README, ["train_step", "infer"], 120_000)]


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def sections(library):
    """Section, name of its function or table, and bytes."""
    for line in output("size", "-A", library).splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit() and (match := SECTION.match(words[0])) and int(words[1]) > 0:
            yield words[0], match[1] or "", int(words[1])


def purpose(name):
    return next((what for what, pattern in PURPOSES.items() if re.search(pattern, name)), "other")


def short(name):
    """A function's name without its template arguments, and with the shape of a product."""
    shape = re.search(r"MatMulShape\{([\dl, ]+)\}", name)
    before = name
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", before)) != before:
        before = shorter
    before = re.sub(r"tilewright::|internal::|detail::", "", before.replace("decltype", "")).split(" const")[0].strip().split(" ")[-1]
    extents = shape and shape[1].replace("l", "").split(", ")[:3]
    return f"{before} {' x '.join(extents)}" if extents else before


def measure(network, flags, compiler, folder):
    subprocess.run([sys.executable, PROJECT / "cmake" / "export.py", network.source, *network.programs, "--c", folder, "--name", "net",
                    f"--flags={flags}", "--compiler", compiler], check=True)
    rows = list(sections(folder / "libnet.a"))
    names = output("c++filt", *(name for _, name, _ in rows)).splitlines()
    return [(section, name, size) for (section, _, size), name in zip(rows, names)]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench size", description=__doc__)
    parser.add_argument("--flags", default="-Os -march=x86-64-v3", help="as in a shell (%(default)s); write --flags=...")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--largest", type=int, default=8, metavar="N", help="sections to list for each network (%(default)s)")
    options = parser.parse_args()
    failed = False
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(network, options.flags, options.compiler, Path(folder))
        data = sum(size for section, _, size in rows if section.startswith(".data"))
        total = sum(size for _, _, size in rows)
        print(f"{network.name}: {total - data} text + {data} data = {total} bytes, at most {network.most}")
        for what in [*PURPOSES, "other"]:
            print(f"{sum(size for _, name, size in rows if purpose(name) == what):10} {what}")
        for section, name, size in sorted(rows, key=lambda row: -row[2])[:options.largest]:
            print(f"{size:14} {section.split('.')[1]} {short(name)}")
        failed |= total > network.most
    sys.exit(failed)


if __name__ == "__main__":
    main()
