#!/usr/bin/env python3
"""What a header of kernel/ declares is in namespace tilewright::kernel, and functions of numbers and vectors in tilewright::math. In
tilewright itself is what others name: NAMED says which headers have it.
"""

import re
import sys
from pathlib import Path

KERNEL = Path(__file__).resolve().parents[2] / "include" / "tilewright" / "kernel"
NAMED = {
    "faults.hpp": "ops of one's own report faults",
    "image/resize.hpp": "options of ops::interpolate",
    "view.hpp": "ops of one's own get views, and plans have their constants",
}


def main():
    problems, named = [], set()
    for header in sorted(KERNEL.rglob("*.hpp")):
        name = str(header.relative_to(KERNEL))
        for number, line in enumerate(header.read_text().splitlines(), 1):
            match = re.match(r"(?:inline )?namespace (?!xt\b)([\w:]+)? *\{", line)
            if not match or re.fullmatch(r"tilewright::(kernel|math)|kernel|detail", match[1] or ""):
                continue
            if match[1] == "tilewright" and name in NAMED:
                named.add(name)
            else:
                problems.append(f"{header}:{number}: namespace {match[1]}: tilewright::kernel expected")
    problems += [f"NAMED has {name}, which declares nothing in tilewright" for name in sorted(NAMED.keys() - named)]
    print("\n".join(problems) or f"kernels are in tilewright::kernel, but for {len(NAMED)} headers")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
