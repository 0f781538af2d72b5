#!/usr/bin/env python3
"""Writes the library as one header, which needs Boost.Hana, xtensor and xsimd, and no other file of tilewright.

    single_header.py FILE

It has tilewright.hpp, popxl.hpp, layers, training, kernels of one's own, and those headers of data/ that need the standard library
alone. It has no readers of files of data, no checkpoints, and no extras of docs/how-it-works/architecture.md. A program includes
either this header or <tilewright/...>.
"""

import re
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent
HEADERS = ["tilewright.hpp", "array.hpp", "check.hpp", "popxl.hpp", "layers/layers.hpp", "train/train.hpp", "data/arrays.hpp",
           "data/augment.hpp", "data/character_vocabulary.hpp", "data/dataset.hpp", "data/generated_digits.hpp",
           "data/generated_text.hpp", "data/loader.hpp", "data/text_batches.hpp"]
LEFT_OUT = ("checkpoint/", "distributed/", "images/", "profile/", "scaling/", "data/file_reader.hpp")
OWN = re.compile(r'\s*#\s*include\s*[<"](tilewright/[\w/]+\.hpp)[>"]')
COMPILED = "#ifndef TILEWRIGHT_COMPILED"  # begins code that a library of the user's build may have; one header always has it
OTHERS = re.compile(r"\s*#\s*include\s*(<[^>]+>)")


class SingleHeader:
    def __init__(self):
        self.lines, self.own, self.others = [], set(), set()

    def add(self, name):
        """The header of this name, unless it is there: after those that it includes."""
        if name in self.own:
            return
        if name.removeprefix("tilewright/").startswith(LEFT_OUT):
            sys.exit(f"{name} is to be left out, and something includes it")
        self.own.add(name)
        depth = 0  # of #if
        is_compiled = False  # within COMPILED
        for number, line in enumerate((INCLUDE / name).read_text().splitlines(), 1):
            directive = re.match(r"\s*#\s*(\w+)", line)
            directive = directive[1] if directive else ""
            if line.startswith(COMPILED) or (is_compiled and directive == "endif"):
                is_compiled = not is_compiled
                continue
            depth += directive.startswith("if") - (directive == "endif")
            if directive == "pragma" and "once" in line:
                continue
            if match := OWN.match(line):
                if depth and match[1] not in self.own:
                    sys.exit(f"{INCLUDE / name}:{number}: a header of the library that #if includes must be included before")
                self.add(match[1])
            elif (match := OTHERS.match(line)) and not depth:
                if match[1] not in self.others:
                    self.others.add(match[1])
                    self.lines.append(line)
            else:
                self.lines.append(line)

    def text(self):
        licence = "\n".join(f"// {line}".rstrip() for line in (INCLUDE.parent / "LICENSE").read_text().splitlines())
        body = re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines))
        made_by = "// tilewright in one header, which include/single_header.py made of the library's headers."
        return f"#pragma once\n{made_by}\n//\n{licence}\n\n{body}\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    header = SingleHeader()
    for name in HEADERS:
        header.add(f"tilewright/{name}")
    Path(sys.argv[1]).write_text(header.text())


if __name__ == "__main__":
    main()
