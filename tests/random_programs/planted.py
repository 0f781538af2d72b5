#!/usr/bin/env python3
"""Plants faults in copies of the library, one at a time, and shows that random programs find each of them."""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import run

# By name: a header, what stands there, and what takes its place.
FAULTS = {
    "fusion: a group moves before another that writes what it reads": (
        "lower/steps/fuse.hpp", "may = may && (writes ? users : writers)[storage] <= earlier;", ""),
    "reuse of memory: a storage is taken over although it is read later": (
        "lower/memory/reuse.hpp", "lifetimes.last[input] != step ||", "lifetimes.last[input] < step ||"),
    "a gradient: that of tanh is 1 - y": (
        "ops/elementwise/unary.hpp", "dy * math::fma(-y, y, math::number<X>(1))", "dy * (math::number<X>(1) - y)"),
}


def plant(include, header, sound, faulty):
    """Puts a fault into a copy of the library."""
    path = include / "tilewright" / header
    text = path.read_text()
    if text.count(sound) != 1:
        sys.exit(f"{header} does not have once what the fault replaces: {sound}")
    path.write_text(text.replace(sound, faulty))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--most", type=int, default=1000, help="programs in which each fault must be found")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--plant-only", action="store_true", help="check only that the library still has what the faults replace")
    options = parser.parse_args()
    missed = []
    for name, fault in FAULTS.items():
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            include = Path(folder) / "include"
            shutil.copytree(run.PROJECT / "include", include)
            plant(include, *fault)
            if options.plant_only:
                continue
            if not run.run(options.compiler, include, options.seed, options.most, 5, options.jobs, stop_at_first=True):
                missed.append(name)
    if missed:
        sys.exit("not found: " + ", ".join(missed))


if __name__ == "__main__":
    main()
