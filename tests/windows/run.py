#!/usr/bin/env python3
"""Runs a program of Windows with Wine, which gets a folder of its own for its settings and drives, and exits as the program does.

    run.py --wine WINE [--same-as PROGRAM] [--percent NUMBER] PROGRAM.exe

With --same-as, it must print what another program prints here; with --percent, first of all a number within half a point of
NUMBER before " %".
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 300


def run_in_wine(wine, program):
    """The exit status, and what the program prints to its standard output, with the ends of lines of here."""
    with tempfile.TemporaryDirectory(prefix="tilewright-wine-", ignore_cleanup_errors=True) as folder:
        environment = dict(os.environ, WINEPREFIX=f"{folder}/prefix", TMPDIR=folder, WINEDEBUG="-all")
        os.mkdir(environment["WINEPREFIX"])
        environment["WINEDLLOVERRIDES"] = "winemenubuilder.exe,mscoree,mshtml="  # no menus, and nothing fetched from anywhere
        beside = Path(wine).resolve().parent / "wineserver"
        server = str(beside) if beside.exists() else shutil.which("wineserver")
        try:
            for _ in range(3):
                done = subprocess.run([wine, program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      timeout=SECONDS)
                sys.stderr.write(done.stderr.decode(errors="replace"))
                if b"wine client error" not in done.stderr:  # Wine lost its server, as it did once in 160 runs
                    break
        finally:
            if server:  # it outlives the program for a while, and would write to the folder
                subprocess.run([server, "-k"], env=environment)
                subprocess.run([server, "-w"], env=environment)
        return done.returncode, done.stdout.decode(errors="replace").replace("\r\n", "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wine", required=True)
    parser.add_argument("--same-as")
    parser.add_argument("--percent", type=float)
    parser.add_argument("program")
    options = parser.parse_args()

    status, printed = run_in_wine(options.wine, options.program)
    print(printed, end="", flush=True)
    if status != 0:
        sys.exit(f"exit status {status}: 0 expected")
    if options.percent is not None:
        found = re.search(r"([\d.]+) %", printed)
        if not found or abs(float(found[1]) - options.percent) > 0.5:
            sys.exit(f"{options.percent} %, or half a point more or less, expected")
    if options.same_as:
        here = subprocess.run([options.same_as], stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS).stdout
        if printed != here:
            sys.exit(f"what it prints here expected:\n{here}")


if __name__ == "__main__":
    main()
