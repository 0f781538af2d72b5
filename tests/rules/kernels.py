#!/usr/bin/env python3
"""What a header of kernel/ declares is in namespace tilewright::kernel; functions of numbers and vectors are in tilewright::math,
vectors in tilewright::simd."""

import re
import sys
from pathlib import Path

KERNEL = Path(__file__).resolve().parents[2] / "include" / "tilewright" / "kernel"


def main():
    problems = []
    for header in sorted(KERNEL.rglob("*.hpp")):
        for number, line in enumerate(header.read_text().splitlines(), 1):
            match = re.match(r"(?:inline )?namespace (?!xt\b)([\w:]+)? *\{", line)
            if not match or re.fullmatch(r"tilewright::(kernel|math|simd)|kernel|detail", match[1] or ""):
                continue
            problems.append(f"{header}:{number}: namespace {match[1]}: tilewright::kernel expected")
    print("\n".join(problems) or "kernels are in tilewright::kernel")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
