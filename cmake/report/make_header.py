#!/usr/bin/env python3
"""Makes the header of a report's page, profile/report_page.hpp, from page.html, its style and its scripts.

page.html names the style and the scripts, which stand beside it. In the header they are parts of the page, so that a report is one
file: the style is in page.html, and all scripts, in the order of their names there, are one function in strict mode. A comment at
the top of a file, up to its first empty line, is left out. Without options the script compares the header with the files; --write
writes it.
"""

import argparse
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
HEADER = FOLDER.parents[1] / "include/tilewright/profile/report_page.hpp"
STYLE = re.compile(r'<link rel="stylesheet" href="([\w.]+)">\n')
DATA = re.compile(r'(?<=<script type="application/json" id="data">)(?=</script>\n)')
SCRIPTS = re.compile(r'(?:<script src="[\w.]+"></script>\n)+')
OPEN, CLOSE = "(() => {\n'use strict';\n", "})();\n"
TOP = re.compile(r"(?://[^\n]*\n)+\n|/\*.*?\*/\n\n", re.DOTALL)
ENDS = {"js": re.compile(r"</script|<!--", re.IGNORECASE), "css": re.compile(r"</style", re.IGNORECASE)}

HEAD = """#pragma once
#include <string>
#include <string_view>

// cmake/report/make_header.py makes this header of the files beside it: edit those, and `./dev docs` writes it anew.

namespace tilewright::detail {

/// Returns the page of a report: one HTML text with its style, its script and the data, a profile or a list of two as JSON.
inline std::string report_page(std::string_view json) {
  std::string page;
"""
TAIL = """  return page;
}

}  // namespace tilewright::detail
"""


class PageError(Exception):
    """What is wrong with a file of the page."""


def code(path):
    """The code of a style or a script, and the number of its first line."""
    text = path.read_text(encoding="utf-8")
    top = TOP.match(text)
    if not top:
        raise PageError(f"{path.name}: a comment at the top, and an empty line below it, expected")
    kind = path.suffix[1:]
    if found := ENDS[kind].search(text):
        raise PageError(f"{path.name}: {found[0]} would end the element in the page")
    if f'){kind}"' in text:
        raise PageError(f'{path.name}: ){kind}" would end the text in the header')
    return text[top.end():], top[0].count("\n") + 1


def divided(text, mark, what):
    """What is before and after the one place of a mark, and the mark."""
    found = list(mark.finditer(text))
    if len(found) != 1:
        raise PageError(f"page.html: {len(found)} times {what}: once expected")
    return text[:found[0].start()], text[found[0].end():], found[0]


def scripts(folder=FOLDER):
    """The paths of the scripts, in the order of the page."""
    listed = divided((folder / "page.html").read_text(encoding="utf-8"), SCRIPTS, "a list of scripts")[2][0]
    names = re.findall(r'src="([\w.]+)"', listed)
    if unlisted := sorted({path.name for path in folder.glob("*.js")} ^ set(names)):
        raise PageError(f"{', '.join(unlisted)}: in the folder and in page.html expected")
    return [folder / name for name in names]


def parts(folder=FOLDER):
    """The parts of the page as pairs: `html`, `css` or `js` and the text; `data` where the data is."""
    before, rest, style = divided((folder / "page.html").read_text(encoding="utf-8"), STYLE, "a style")
    between, rest, _ = divided(rest, DATA, "an element of data")
    before_scripts, after, _ = divided(rest, SCRIPTS, "a list of scripts")
    yield "html", before + "<style>"
    yield "css", "\n" + code(folder / style[1])[0]
    yield "html", "</style>\n" + between
    yield "data", ""
    yield "html", before_scripts + "<script>\n" + OPEN
    for path in scripts(folder):
        yield "js", "\n" + code(path)[0]
    yield "html", CLOSE + "</script>\n" + after


def header(folder=FOLDER):
    lines = []
    for kind, text in parts(folder):
        lines.append("  page += json;\n" if kind == "data" else f'  page += R"{kind}({text}){kind}";\n')
    return HEAD + "".join(lines) + TAIL


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="write the header")
    options = parser.parse_args()
    try:
        text = header()
    except (PageError, OSError) as error:
        sys.exit(f"{Path(__file__).name}: {error}")
    if options.write:
        HEADER.write_text(text, encoding="utf-8")
    elif HEADER.read_text(encoding="utf-8") != text:
        sys.exit(f"{HEADER.name} is not what the files of {FOLDER.name}/ say: ./dev docs writes it")


if __name__ == "__main__":
    main()
