#!/usr/bin/env python3
"""Who writes a model reads no kernels: model.hpp and the headers of layers/ include, by the compiler's list of files, nothing of
kernel/, no `*_code.hpp` (the kernels of ops), no xtensor, no xsimd but its version, no intrinsics, and none of HEAVY.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INCLUDE = PROJECT / "include"
# of the standard library
HEAVY = {"atomic", "charconv", "chrono", "cmath", "condition_variable", "functional", "iostream", "map", "memory", "mutex", "random",
         "regex", "thread", "unordered_map"}


def heavy(file):
    """Whether nothing that a model needs includes the file."""
    if INCLUDE in file.parents:
        room, *rest = file.relative_to(INCLUDE / "tilewright").parts
        return room == "kernel" or file.name.endswith("_code.hpp")
    if file.name == "xsimd_config.hpp":
        return False
    return ({"xtensor", "xtl", "xsimd"} & set(file.parts) or file.name.endswith("intrin.h")
            or (file.name in HEAVY and re.fullmatch(r"[\d.]+|v1", file.parent.name)))


def main():
    headers = ["tilewright/model.hpp", *(str(layer.relative_to(INCLUDE)) for layer in sorted((INCLUDE / "tilewright/layers").glob("*.hpp")))]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "headers.cpp"
        source.write_text("".join(f"#include <{header}>\n" for header in headers))
        command = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-M", f"-I{INCLUDE}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{shlex.join(command)}: {done.stderr}")
        files = [Path(file) for file in done.stdout.replace("\\\n", " ").split()[1:]]
        problems = sorted({f"{file}: read by model.hpp or a layer, which need no kernels" for file in files if heavy(file)})
    print("\n".join(problems) or f"{len(files)} files of model.hpp and the layers: no kernels among them")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
