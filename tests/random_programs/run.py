#!/usr/bin/env python3
"""Compiles and runs random programs (generator.hpp), and compares what they give with the interpreter of graphs.

    ./dev fuzz programs                       1,000 programs
    ./dev fuzz programs --count 40 --seed 7   those of the seeds 7 to 46

Each seed gives one program without gradients, which runs on the host and on the IPU model, and one with gradients; with --spread
only one of the three, in turn. What fails is listed with its seed: `--count 1 --seed N` shows it again.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
HEADER = """#include "{here}/check.hpp"
using namespace random_programs;
"""
CASES = ["""TEST_CASE("results on the host") {{ check_results<{first}, {count}, tw::cpu>(); }}
""", """TEST_CASE("results on the IPU model") {{ check_results<{first}, {count}, tw::ipu_model>(); }}
""", """TEST_CASE("gradients") {{ check_gradients<{first}, {count}, tw::cpu>(); }}
"""]


def default_flags(include):
    return shlex.split(f"-std=c++20 -O0 -w -march=native -I{include} -I{PROJECT / 'tests'} -DXTENSOR_USE_XSIMD -pthread "
                       "-fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096 "
                       f"-DTILEWRIGHT_REFERENCE_DIR=\\\"{PROJECT / 'tests' / 'reference'}\\\"")


def source_of(first, count, spread):
    parts = [(first + count * i // 3, first + count * (i + 1) // 3) for i in range(3)] if spread else [(first, first + count)] * 3
    cases = [case.format(first=begin, count=end - begin) for case, (begin, end) in zip(CASES, parts) if end > begin]
    return HEADER.format(here=HERE) + "".join(cases)


def run_batch(command, folder, spread, first, count):
    """What is wrong with the programs of these seeds, as a text; empty if nothing is."""
    source, program = folder / f"{first}.cpp", folder / f"{first}"
    source.write_text(source_of(first, count, spread))
    built = subprocess.run([*command, str(source), str(folder / "main.o"), "-o", str(program)], capture_output=True, text=True)
    if built.returncode != 0:
        return f"seeds {first} to {first + count - 1} do not compile:\n{built.stderr[:4000]}"
    result = subprocess.run([str(program)], capture_output=True, text=True, env={**os.environ, "TILEWRIGHT_LOG_LEVEL": "ERROR"})
    program.unlink()
    return "" if result.returncode == 0 else result.stdout[:8000] + result.stderr[:1000]


def run(compiler, include, first, count, batch, jobs, spread=False, stop_at_first=False):
    """The texts of all failures; prints them as they come."""
    command = [compiler, *default_flags(include)]
    failures = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        folder = Path(name)
        subprocess.run([*command, "-c", str(PROJECT / "tests" / "main.cpp"), "-o", str(folder / "main.o")], check=True)
        batches = [(start, min(batch, first + count - start)) for start in range(first, first + count, batch)]
        for number in range(0, len(batches), jobs):
            for text in pool.map(lambda each: run_batch(command, folder, spread, *each), batches[number:number + jobs]):
                if text:
                    failures.append(text)
                    print(text, flush=True)
            done = min(count, (number + jobs) * batch)
            print(f"{done} of {count} programs, {len(failures)} batches failed", flush=True)
            if failures and stop_at_first:
                break
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", type=Path, default=PROJECT / "include", help="another copy of the library")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--batch", type=int, default=5, help="programs in one source")
    parser.add_argument("--spread", action="store_true", help="a third of the programs for each of the three ways")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if run(options.compiler, options.include, options.seed, options.count, options.batch, options.jobs,
           options.spread):
        sys.exit(1)


if __name__ == "__main__":
    main()
