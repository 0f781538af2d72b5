#!/usr/bin/env python3
"""Writes one HTML file that trains the network of digits.hpp in a browser, without a server:

    ./dev export examples/browser/digits/digits.hpp train_step test_step --wasm build/digits --flags="-O3 -lm -lc"
    python3 examples/browser/digits/page.py build/digits build/digits.html
"""

import argparse
import base64
import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where digits.wasm and digits.js are")
    parser.add_argument("page", type=Path, help="the file that is written")
    options = parser.parse_args()
    # a page from disk may start a worker from a text, but none that is a module
    module = re.sub(r"^export ", "", (options.folder / "digits.js").read_text(), flags=re.MULTILINE).replace("import.meta.url", "location.href")
    worker = module + (FOLDER / "worker.js").read_text()
    parts = {"STYLE": (FOLDER / "page.css").read_text(), "MAIN": (FOLDER / "main.js").read_text(),
             "WORKER": json.dumps(worker).replace("</", "<\\/"),
             "WASM": base64.b64encode((options.folder / "digits.wasm").read_bytes()).decode()}
    page = (FOLDER / "page.html").read_text()
    for name, text in parts.items():
        page = page.replace(f"@{name}@", text)
    options.page.write_text(page)


if __name__ == "__main__":
    main()
