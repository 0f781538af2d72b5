#!/usr/bin/env python3
"""clangd finds no error in the README's program and in SOURCES, and the one that is put into that program:
run_clangd.py BUILD_DIR [SOURCES].

clangd reads the file .clangd of the project and the commands of GCC that CMake has written into BUILD_DIR.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CLANGD = "clangd-19"
SKIPPED = 77


def errors_of(source, commands):
    run = subprocess.run([CLANGD, "--enable-config", f"--compile-commands-dir={commands}", "--tweaks=none", f"--check={source}"],
                         capture_output=True, text=True, timeout=600)
    if not re.search(r"All checks completed, \d+ errors", run.stderr):
        raise SystemExit(f"{source}: clangd gave up:\n{run.stderr[-3000:]}")
    return [line.split("] ", 1)[1] for line in run.stderr.splitlines() if line.startswith("E[")]


def main():
    if not shutil.which(CLANGD):
        print(f"no {CLANGD}: skipped")
        return SKIPPED
    commands = Path(sys.argv[1]).resolve()
    program = re.search(r"```cpp\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)[1]
    wrong = []
    with tempfile.TemporaryDirectory(dir=commands) as folder:  # below .clangd
        right = Path(folder) / "net.cpp"
        right.write_text(program)
        mistaken = Path(folder) / "mistaken.cpp"
        mistaken.write_text(program.replace("28 * 28", "27 * 28"))
        for source in [right, *(Path(source).resolve() for source in sys.argv[2:])]:
            wrong += [f"{source.name}: {error}" for error in errors_of(source, commands)]
        found = "\n".join(errors_of(mistaken, commands))
        if "Reshape: (8, 28, 28) float32" not in found:
            wrong.append(f"a reshape to 27 * 28: its message expected, found:\n{found}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
