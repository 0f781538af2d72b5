#!/usr/bin/env python3
"""Runs the readers of files against libFuzzer, one after the other: this is `./dev fuzz`, which builds them with Clang.

What a fuzzer finds stays in build/clang/fuzz/READER, for the next time.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
TESTS = PROJECT / "tests"
READERS = ["csv", "npy", "npz", "png", "safetensors", "static_safetensors"]
LIMITS = ["-timeout=10", "-rss_limit_mb=2000", "-print_final_stats=1"]  # seconds and MB of one input


def corpus(reader):
    """The folder of inputs, with those that the project has."""
    folder = PROJECT / "build/clang/fuzz" / reader
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*(TESTS / "fuzz/corpus" / reader).glob("*"), *(TESTS / "reference/state").glob(f"*.{reader.removeprefix('static_')}")]:
        shutil.copy(path, folder)
    return folder


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__.split("\n", 1)[0])
    parser.add_argument("seconds", nargs="?", type=int, default=300, help="for each reader (default: %(default)s)")
    options = parser.parse_args()
    for command in (["setup", "fuzz"], ["build", "fuzz"]):
        if status := subprocess.run([PROJECT / "dev", *command]).returncode:
            sys.exit(status)
    for reader in READERS:
        print(f"== {reader}", file=sys.stderr, flush=True)
        command = [PROJECT / f"build/clang/tests/fuzz_{reader}", f"-max_total_time={options.seconds}", *LIMITS, corpus(reader)]
        if status := subprocess.run(command, cwd=PROJECT).returncode:
            sys.exit(status)


if __name__ == "__main__":
    main()
