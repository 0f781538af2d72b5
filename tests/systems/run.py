#!/usr/bin/env python3
"""Builds and runs tilewright in fresh Debian systems, with the compilers and libraries that each of them has.

    run.py                the default compilers of Debian 13 and of sid: the README's program, examples/mnist.cpp, layers, a strict
                          test and the static tests of the preset `quick`; members of modules without a macro, where the compiler
                          has reflection
    run.py --package      the Debian package in systems of Debian 12 and 13 that have nothing of what it depends on
    run.py --matrix       every row of the table in docs/generated/compile-times.md; --write writes that table anew

A system is made by debootstrap in --folder, and kept for a day. Without --matrix, one that cannot be made (no root, no network,
packages that cannot be installed) is skipped, and named in the file --skipped. A compiler newer than the table's is printed as
`new`, and does not fail the test.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import table
from programs import check_default, check_matrix, check_package
from system import System, Unavailable

PROJECT = Path(__file__).resolve().parents[2]
SKIPPED = 77  # the status if --package found no system
SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid"}
COMPILERS = {  # those of the matrix; the newest Clang of sid is added
    "bookworm": ["g++-12", "clang-19", "g++-aarch64-linux-gnu", "qemu-user"],
    "trixie": ["g++-12", "g++-13", "g++-14", "clang-17", "clang-18", "clang-19", "libc++-19-dev", "libc++abi-19-dev"],
    "sid": ["g++-11", "g++-15", "g++-16"]}


def packages_to_build():
    """Those of cmake/packages.txt."""
    text = (PROJECT / "cmake/packages.txt").read_text()
    return re.search(r"^build: *(.*)$", text, re.MULTILINE)[1].split()


class Report:
    """Prints what was found, a line each, and counts."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.rows, self.lock = 0, 0, [], [], threading.Lock()

    def line(self, verdict, text, details=""):
        with self.lock:
            print(f"{verdict:4} {text}", flush=True)
            if details:
                print(details, flush=True)
            self.passed += verdict == "ok"
            self.failed += verdict == "FAIL"


def check(report, options, suite):
    system = System(SYSTEMS[suite], suite, packages_to_build(), options.folder, PROJECT)
    try:
        if options.matrix:
            system.packages += COMPILERS[suite]
        system.make()
        if not options.matrix:
            check_default(report, system)
            return
        newest = 0
        if suite == "sid":
            newest = system.newest("clang-{}")
            system.install([f"clang-{newest}", f"clang-tools-{newest}", f"libc++-{newest}-dev", f"libc++abi-{newest}-dev"])
        check_matrix(report, system, newest)
    except Unavailable as reason:
        report.skipped.append(f"{system.name} ({reason})")
        report.line("FAIL" if options.matrix else "skip", f"{system.name}: {reason}")


def check_in_bare_system(report, options, suite, package):
    system = System(SYSTEMS[suite], suite, ["g++", "cmake", "ninja-build", "pkgconf"], options.folder / "bare", PROJECT)
    try:
        system.make()
        check_package(report, system, package)
    except Unavailable as reason:
        report.skipped.append(f"{system.name} ({reason})")
        report.line("skip", f"{system.name}: {reason}")


def make_package(folder):
    """The Debian package of this checkout."""
    build = Path(folder) / "build"
    subprocess.run(["cmake", "-S", PROJECT, "-B", build, "-DTILEWRIGHT_BUILD_TESTS=OFF", "-DTILEWRIGHT_BUILD_EXAMPLES=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder],
                   check=True, stdout=subprocess.DEVNULL)
    return next(Path(folder).glob("*.deb"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--package", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/tilewright-systems"))
    parser.add_argument("--only", choices=list(SYSTEMS), help="this system alone")
    parser.add_argument("--skipped", type=Path, help="a file for the names of systems that were skipped")
    options = parser.parse_args()
    report = Report()
    usual = ["bookworm", "trixie"] if options.package else list(SYSTEMS) if options.matrix else ["trixie", "sid"]
    suites = [options.only] if options.only else usual
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        function, arguments = (check_in_bare_system, [make_package(folder)]) if options.package else (check, [])
        for future in [pool.submit(function, report, options, suite, *arguments) for suite in suites]:
            future.result()
    if options.matrix:
        order = list(SYSTEMS.values())
        report.rows.sort(key=lambda row: order.index(row.system))
        text = table.text_of(report.rows)
        print(text)
        if options.write:
            table.write(text)
    if options.skipped:
        options.skipped.write_text(", ".join(report.skipped))
    print(f"{report.passed} passed, {report.failed} failed, {len(report.skipped)} skipped")
    if options.package and report.passed + report.failed == 0:
        sys.exit(SKIPPED)
    sys.exit(bool(report.failed))


if __name__ == "__main__":
    main()
