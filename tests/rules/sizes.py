#!/usr/bin/env python3
"""A header of the library has at most 400 lines. TOO_LONG names those that still have more; the test fails when one has not."""

import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "include" / "tilewright"
MOST_LINES = 400
TOO_LONG = set()


def main():
    lengths = {str(path.relative_to(LIBRARY)): len(path.read_text().splitlines()) for path in sorted(LIBRARY.rglob("*.hpp"))}
    problems = [f"{name}: {length} lines: at most {MOST_LINES} expected" for name, length in lengths.items()
                if length > MOST_LINES and name not in TOO_LONG]
    problems += [f"{name}: take it from TOO_LONG in {__file__}" for name in sorted(TOO_LONG)
                 if lengths.get(name, 0) <= MOST_LINES]
    print("\n".join(problems) or f"{len(lengths)} headers of at most {max(lengths.values())} lines")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
