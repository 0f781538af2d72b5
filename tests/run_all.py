#!/usr/bin/env python3
"""Builds and runs tests: this is `./dev test`. Parts are workflows of CMakePresets.json and scripts; the first that fails ends all.

    run_all.py              nearly everything with GCC, a part with Clang, code with vectors for x86-64-v3, fresh systems
    run_all.py NAME         the tests whose names match, such as run/sessions/sessions, static or 'fail/(ops|calls)'
    run_all.py --quick      what the compiler checks, errors of the core, the ops on the host
    run_all.py --all        everything: also long tests, the sanitizers, random programs, 64-bit ARM and Windows
    run_all.py --systems    all compilers of fresh Debian systems, as a table; further options are those of tests/systems/run.py
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DEV = PROJECT / "dev"
SKIPPED_SYSTEMS = PROJECT / "build/skipped-systems"
NO_CLANG = "CLANG: install clang-19 (clang++-19) to run the other half of the tests"

# What tests do without if it cannot be installed, by its purpose in cmake/packages.txt.
OPTIONAL = {"graphviz": "Graphviz", "mpi": "MPI", "packaging": "pkg-config and the reader of GitHub's workflow",
            "chromium": "Chromium, which opens reports", "arm": "ARM", "node": "node, which reads the scripts of reports", "editor": "clangd and GDB"}
OPTIONAL_OF_ALL = {"windows": "Windows", "eslint": "ESLint, which reads the scripts of reports", "docs": "the site"}
SANITIZERS = ["asan", "ubsan", "tsan"]
LONG_SCRIPTS = {"random programs": ["random_programs/run.py", "random_programs/planted.py"],
                "ops at the edges of their dtypes, and planted faults of values": ["edges/run.py", "edges/planted.py"]}


def say(text):
    print(f"\033[1m== {text}\033[0m", file=sys.stderr, flush=True)


def run(*command):
    status = subprocess.run(command, cwd=PROJECT).returncode
    if status != 0:
        sys.exit(status if status > 0 else 128 - status)


def is_set_up(purpose, what=""):
    """Installs what is missing for a purpose. If that is impossible, says what is left out."""
    found = subprocess.run([DEV, "setup", purpose]).returncode == 0
    if not found and what:
        say(f"testing without {what}")
    return found


def workflow(preset):
    say(preset)
    run("cmake", "--workflow", "--preset", preset)


def run_gcc(suffix, optional):
    for purpose, what in optional.items():
        is_set_up(purpose, what)
    workflow(f"gcc{suffix}")
    if re.search(r"\bavx2\b", Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""):
        workflow(f"portable{suffix}")


def run_clang(preset):
    """What is left out."""
    if not is_set_up("clang") or not shutil.which("clang++-19"):
        return [NO_CLANG]
    workflow(preset)
    return []


def run_systems():
    """The systems that could not be made."""
    say("systems")
    is_set_up("systems", "other systems")
    asks = os.geteuid() != 0 and shutil.which("sudo")
    is_free = asks and subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0
    sudo = ["sudo"] if is_free else []
    SKIPPED_SYSTEMS.parent.mkdir(exist_ok=True)
    run(*sudo, sys.executable, PROJECT / "tests/systems/run.py", "--skipped", SKIPPED_SYSTEMS)
    return [SKIPPED_SYSTEMS.read_text()] if SKIPPED_SYSTEMS.stat().st_size else []


def run_usual():
    run_gcc("", OPTIONAL)
    return run_clang("clang") + run_systems()


def run_everything():
    run(DEV, "setup", "bench")  # a benchmark has to compile
    run_gcc("-all", OPTIONAL | OPTIONAL_OF_ALL)
    without = run_clang("clang-all")
    for preset in ["standard-library", *SANITIZERS]:
        workflow(preset)
    for what, scripts in LONG_SCRIPTS.items():
        say(what)
        for script in scripts:
            run(sys.executable, PROJECT / "tests" / script)
    if shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64"):
        workflow("arm")
    return without


def run_matching(pattern):
    """Tests with GCC. Their labels name the targets that they need."""
    chosen = ["ctest", "--preset", "gcc", "--tests-regex", pattern]
    run("cmake", "--preset", "gcc")
    labels = subprocess.run([*chosen, "--print-labels"], cwd=PROJECT, stdout=subprocess.PIPE, text=True).stdout
    if targets := re.findall(r"^  target:(.*)$", labels, re.MULTILINE):
        run(DEV, "build", "gcc", *targets)
    run(*chosen, "--no-tests=error")


def main():
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", nargs="?", help="a regular expression: the tests whose names match, with GCC")
    parser.add_argument("--quick", action="store_true", help="three minutes: what says whether the core works")
    parser.add_argument("--all", action="store_true", help="everything; this takes hours")
    parser.add_argument("--systems", action="store_true",
                        help="all compilers of fresh Debian systems, as a table; --write puts it in docs/compiling.md")
    options, others = parser.parse_known_args()
    if others and not options.systems:
        parser.error(f"unknown option {others[0]}")
    if bool(options.name) + options.quick + options.all + options.systems > 1:
        parser.error("one of NAME, --quick, --all and --systems expected")
    start, without = time.monotonic(), []
    if options.systems:
        run(DEV, "setup", "systems")
        run(sys.executable, PROJECT / "tests/systems/run.py", "--matrix", *others)
    elif options.quick:
        workflow("quick")
    elif options.all:
        without = run_everything()
    elif options.name:
        run_matching(options.name)
    else:
        without = run_usual()
    say(f"passed in {time.monotonic() - start:.0f} s" + "".join(f" WITHOUT {what}" for what in without))


if __name__ == "__main__":
    main()
