#!/usr/bin/env python3
"""Builds the site of the pages, serves it to this machine, and looks at its pages in a headless Chromium.

    python3 tests/site/run.py --reporter build/gcc/examples/report_mnist --into FOLDER [--planted] [--pictures FOLDER]

It fails if a page asks another host, links to a page, an anchor or a file that is not there, has an error in a script, text without
contrast, or more width than its window; if the pages that train in it do not; if the site has 20 MB; if the search does not find
layer_norm; and if copying code or the switch of light and dark does not work. --planted then puts faults into a page, each of which
must be found. Without MkDocs or a Chromium the test is skipped (exit code 77).
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / folder) for folder in ("tests/site", "tests/embedded", "examples/browser")]
from check import Server, Site, browser  # noqa: E402
from devtools import find_chromium  # noqa: E402
from machines import lacks_of_wasm  # noqa: E402
from make_page import write_page  # noqa: E402

BUILD = PROJECT / "docs" / "site" / "build.py"
SKIPPED = 77
LIVE = {"index.html": "digits", "docs/how-to/browser.html": "gpt"}  # the page that trains in a page
REPORT = "docs/how-it-works/simulated-ipu.html"
# By what is planted into the head or the article of docs/how-to/training.html: what must be said of it.
PLANTED = {
    '<a href="no-such-page.html">x</a>': "docs/how-to/training.html: links to no-such-page.html, which is not there",
    '<a href="optimisers.html#no-such-heading">x</a>':
        "docs/how-to/training.html: links to optimisers.html#no-such-heading, which has no such anchor",
    '<img src="images/no-such-picture.png">': "docs/how-to/training.html: shows ",
    '<link rel="stylesheet" href="https://fonts.example.com/css?family=Roboto">':
        "docs/how-to/training.html: asks for https://fonts.example.com/",
    '<style>@import url("https://fonts.example.com/css?family=Roboto")</style>':
        "docs/how-to/training.html: asks for https://fonts.example.com/",
    '<link rel="stylesheet" href="no-such-style.css">': "docs/how-to/training.html: links to no-such-style.css, which is not there",
    '<script src="http://127.0.0.1:9/analytics.js"></script>': "docs/how-to/training.html: asks for http://127.0.0.1:9/analytics.js",
    "<script>no_such_function()</script>": "docs/how-to/training.html: ReferenceError: no_such_function is not defined",
    '<script>fetch("../search/no-such-index.json")</script>': "docs/how-to/training.html: Failed to load resource",
    '<div style="width: 600px">x</div>': "docs/how-to/training.html: a window of 390 pixels cuts div x",
    "<tensor>x</tensor>": "docs/how-to/training.html: has a tag <tensor>",
    '<iframe src="about:blank"></iframe>': "docs/how-to/training.html: has a frame without a page",
    '<div class="highlight"><pre>x</pre></div>': "docs/how-to/training.html: has code without a button that copies it",
}


def find_all(site):
    pages = site.pages()
    sources = [page for page in pages if re.search(r"\.\w+\.html$", page)]
    site.check_size()
    for page in pages:
        site.check_text(page)
    for page in [*(page for page in pages if page not in sources), *sources[::20]]:  # pages of sources differ in their text only
        site.check_in_browser(page)
    site.check_search("layer_norm", "docs/generated/ops/nn.html#layer_norm")
    site.check_search("SessionOptions", "docs/generated/reference.html#sessionoptions")
    site.check_code_fits("index.html", 1280)
    site.check_copy("index.html")
    site.check_copy("examples/mnist.cpp.html")
    site.check_switch()
    for page in ("index.html", "docs/generated/ops.html", "docs/generated/ops/random.html", "examples/mnist.cpp.html"):
        for dark in (False, True):
            site.check_contrast(page, dark)
    for page, name in LIVE.items():
        if not lacks_of_wasm():
            site.check_frame(page, name)
    if "<iframe" not in (site.folder / REPORT).read_text():
        site.wrong(REPORT, "shows no report")
    return len(pages)


def check_planted(site):
    page = site.folder / "docs/how-to/training.html"
    text = page.read_text()
    missed = []
    for fault, expected in PLANTED.items():
        page.write_text(text.replace("</h1>", "</h1>" + fault, 1))
        site.problems = []
        site.check_text("docs/how-to/training.html")
        site.check_in_browser("docs/how-to/training.html")
        if not any(problem.startswith(expected) for problem in site.problems):
            missed.append(f"planted: {fault}: `{expected}` expected, found: {site.problems or 'nothing'}")
    page.write_text(text)
    index = site.folder / "search/search_index.json"
    text = index.read_text()
    index.write_text(text.replace("layer_norm", "another_norm"))
    site.problems = []
    site.check_search("layer_norm", "docs/generated/ops/nn.html#layer_norm")
    index.write_text(text)
    if not site.problems:
        missed.append("planted: a search index without layer_norm is not noticed")
    return missed


def take_pictures(site, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page in ("index.html", "docs/start/getting-started.html", "docs/how-to/training.html", "docs/generated/ops.html",
                 "docs/generated/ops/nn.html", "docs/how-it-works/simulated-ipu.html", "examples/index.html"):
        for width in (1400, 400):
            for dark in (False, True):
                site.show(page, dark)
                site.browser.open(site.root + page, width=width, height=1000, dark=dark)
                time.sleep(0.5)  # colours change slowly
                name = f"{page.replace('/', '-').removesuffix('.html')}-{width}-{'dark' if dark else 'light'}.png"
                site.browser.screenshot(folder / name, whole=False)
    site.check_search("layer_norm", "docs/generated/ops/nn.html#layer_norm")
    time.sleep(0.5)
    site.browser.screenshot(folder / "search.png", whole=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reporter", type=Path, required=True, help="the program that writes the report of mnist")
    parser.add_argument("--into", type=Path, required=True, help="a folder for the site and its report, which are made anew")
    parser.add_argument("--planted", action="store_true", help="then plant faults")
    parser.add_argument("--as-it-is", action="store_true", help="do not build the site anew")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of pages")
    arguments = parser.parse_args()
    chromium = find_chromium()
    if not chromium or not shutil.which("mkdocs"):
        print("skipped: no Chromium or no MkDocs here (Debian: apt-get install chromium mkdocs mkdocs-material)")
        sys.exit(SKIPPED)
    reports, folder = arguments.into / "reports", arguments.into / "site"
    if not arguments.as_it_is:
        reports.mkdir(parents=True, exist_ok=True)
        subprocess.run([arguments.reporter.resolve(), reports / "mnist"], check=True, stdout=subprocess.DEVNULL)
        if lacks := lacks_of_wasm():
            print(f"WITHOUT pages that train: {lacks} is missing, ./dev setup wasm installs it")
        else:
            for name in LIVE.values():
                write_page(PROJECT / "examples" / "browser" / name / f"{name}.hpp", reports / f"{name}.html", "-O1")
        subprocess.run([sys.executable, BUILD, "--into", folder, "--reports", reports], check=True)
    with Server(folder) as server, browser(chromium) as window:
        site = Site(folder, server.root, window)
        count = find_all(site)
        problems = list(site.problems)
        if arguments.pictures:
            take_pictures(site, arguments.pictures)
        if arguments.planted:
            problems += check_planted(site)
    print("\n".join(problems) or f"{count} pages are what they should be")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
