#!/usr/bin/env python3
"""Writes one HTML file that trains a network in a browser. It opens from disk, without a server:

    python3 examples/browser/make_page.py examples/browser/digits/digits.hpp build/digits.html

SOURCE is a C++ file with programs: functions `constexpr void NAME(tw::Ir& ir)`, which ./dev export compiles. Beside it stands what
is the page's own, by the source's name: NAME.worker.js says how a step is trained (shared/worker.js says what it has). There may be
NAME.html with a <header> and sections, and NAME.page.js for them. What all pages have is in shared/.
"""

import argparse
import base64
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SHARED = Path(__file__).resolve().parent / "shared"
EXPORT = SHARED.parents[2] / "cmake" / "export.py"
PROGRAM = re.compile(r"^constexpr void (\w+)\((?:tw|tilewright)::Ir& \w+\)", re.MULTILINE)
MODULE = "const tilewright = (() => {\n%s\nreturn {load, Fault};\n})();\n"


def part(source, ending, default=""):
    """What a page has of its own beside its source."""
    path = source.with_suffix(ending)
    return path.read_text() if path.exists() else default


def scripts(source, module):
    """The scripts of the worker and of the page; `module` is what the export wrote."""
    # a page from disk may start a worker from a text, but none that is a module
    module = MODULE % re.sub(r"^export ", "", module, flags=re.MULTILINE).replace("import.meta.url", "location.href")
    return (module + (SHARED / "worker.js").read_text() + part(source, ".worker.js"),
            (SHARED / "page.js").read_text() + part(source, ".page.js"))


def write_page(source, page, flags="-O3"):
    name = re.sub(r"^[\d_]+|\W", "", page.stem) or "net"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, EXPORT, source, *PROGRAM.findall(source.read_text()), "--wasm", folder, "--name", name,
                        f"--flags={flags} -lm -lc"], check=True)
        worker, script = scripts(source, (Path(folder) / f"{name}.js").read_text())
        wasm = base64.b64encode(gzip.compress((Path(folder) / f"{name}.wasm").read_bytes(), mtime=0)).decode()
    header, end, sections = part(source, ".html", f"<header>\n  <h1>{name.replace('_', ' ').capitalize()}</h1>\n</header>\n").partition("</header>\n")
    values = {"TITLE": re.search("<h1>(.*)</h1>", header)[1], "STYLE": (SHARED / "style.css").read_text(), "HEADER": header + end,
              "SECTIONS": sections, "NAME": name, "PAGE": script, "WORKER": json.dumps(worker).replace("</", "<\\/"), "WASM": wasm}
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], (SHARED / "frame.html").read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("page", type=Path, metavar="PAGE", help="the file that is written")
    parser.add_argument("--flags", default="-O3", help="of the compiler, as in a shell (%(default)s); write --flags=...")
    options = parser.parse_args()
    write_page(options.source.resolve(), options.page, options.flags)


if __name__ == "__main__":
    main()
