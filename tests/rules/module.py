#!/usr/bin/env python3
"""The module includes, before it begins, each header of others that its headers include: else what that header declares would belong
to the module."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
MODULE = PROJECT / "cmake/tilewright.cppm"
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+([<\"])([^>\"]+)", re.MULTILINE)
# Of Windows; and parts of what the module includes whole.
WITHOUT = {"arm_neon.h", "io.h", "xmmintrin.h", "xsimd/config/xsimd_config.hpp", "xtensor/core/xtensor_config.hpp", "xtensor/xtensor_config.hpp"}


def headers_of_others(path, read):
    """Those that a header of the library and its own headers include."""
    found = set()
    for kind, name in INCLUDE.findall((PROJECT / "include" / path).read_text()):
        if kind == "<":
            found.add(name)
        elif name.startswith("tilewright/") and name not in read:
            read.add(name)
            found |= headers_of_others(name, read)
    return found


def main():
    before, _, module = MODULE.read_text().partition("export module")
    given = {name for _, name in INCLUDE.findall(before)}
    needed = set()
    for _, name in INCLUDE.findall(module):
        needed |= headers_of_others(name, set())
    wrong = [f"cmake/tilewright.cppm: no #include <{name}> before the module: one expected" for name in sorted(needed - WITHOUT - given)]
    wrong += [f"cmake/tilewright.cppm: #include <{name}>, which no header of the module includes" for name in sorted(given - needed)]
    print("\n".join(wrong) or f"the module includes the {len(given)} headers of others before it begins")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
