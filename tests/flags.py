"""The options of a compiler for tests that compile programs themselves, where CMake does not give them."""

import re
import shlex
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def flags(vendor="GNU"):
    """As a shell takes them: those that CMakeLists.txt gives to users of GNU's or Clang's compilers."""
    text = (PROJECT / "CMakeLists.txt").read_text()
    options = re.search(rf"^set\(tilewright_{vendor}_options ([^)]*)\)", text, re.MULTILINE)[1].split()
    includes = [f"-I{PROJECT / 'include'}", f"-I{PROJECT / 'tests'}"]
    return shlex.join(["-std=c++20", *includes, "-DXTENSOR_USE_XSIMD", *options])
