#!/usr/bin/env python3
"""Compiles and runs session.cpp with what pkg-config says of an installed tilewright, and compares the version of both files.

    pkg_config.py PREFIX COMPILER VERSION       takes tilewright-clang for a Clang, and tilewright for others
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

SOURCE = Path(__file__).resolve().parent / "session.cpp"
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Werror".split()
SKIPPED = 77


def output(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout[-3000:]}")
    return result.stdout


def main():
    prefix, compiler, version = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if not which("pkg-config"):
        print("no pkg-config")
        sys.exit(SKIPPED)
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
    for name in ("tilewright", "tilewright-clang"):
        found = output(["pkg-config", "--modversion", name], env=environment).strip()
        if found != version:
            sys.exit(f"{name}: version {found}: {version} expected")
    name = "tilewright-clang" if "clang" in Path(compiler).name else "tilewright"
    flags = output(["pkg-config", "--cflags", "--libs", name], env=environment).split()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "session"
        output([compiler, "-std=c++20", "-O1", *WARNINGS, SOURCE, "-o", program, *flags])
        printed = output([program])
    major, minor, patch = map(int, version.split("."))
    expected = f"{10000 * major + 100 * minor + patch}: 7 0 0 22\n"
    if printed != expected:
        sys.exit(f"printed {printed!r}: {expected!r} expected")
    print(f"{name} {version}: compiled and ran with {' '.join(flags)}")


if __name__ == "__main__":
    main()
