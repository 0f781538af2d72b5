#!/usr/bin/env python3
"""The scripts of a report's page, of pages that train, and of modules for node are JavaScript, and ESLint finds nothing in them.

    python3 tests/report/page_code.py syntax
    python3 tests/report/page_code.py eslint FOLDER

`syntax` has node read each script, then all of a page as its one function. `eslint` checks that function by the rules of
cmake/report/eslint.config.cjs, and the scripts for browsers and node by those in examples/browser, with the ESLint that npm puts into
FOLDER. Either is skipped (exit code 77) without what it needs.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "cmake/report"
BROWSER = PROJECT / "examples/browser"
sys.path[:0] = [str(PAGE), str(BROWSER)]
import make_header  # noqa: E402
from make_page import MODULE, SHARED  # noqa: E402

SKIPPED = 77
ESLINT = "9.39.2"
NODE = (18, 18)  # the least that this ESLint runs on


def skip(message):
    print(f"skipped: {message}")
    sys.exit(SKIPPED)


def page_script():
    """The script of the page, and for each of its lines the file and its number there."""
    text, places = make_header.OPEN, ["page.html"] * make_header.OPEN.count("\n")
    for path in make_header.scripts():
        code, first = make_header.code(path)
        text += code
        places += [f"{path.relative_to(PROJECT)}:{first + i}" for i in range(code.count("\n"))]
    return text + make_header.CLOSE, [*places, "page.html"]


def syntax():
    """What node finds wrong with the scripts, a text each."""
    for path in make_header.scripts():
        done = subprocess.run(["node", "--check", path], capture_output=True, text=True)
        if done.returncode != 0:
            yield done.stderr
    text, places = page_script()
    done = subprocess.run(["node", "--check", "-"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        yield re.sub(r"^\[stdin\]:(\d+)", lambda match: places[int(match[1]) - 1], done.stderr)
    for kind, text, places in browser_scripts():
        done = subprocess.run(["node", "--check", "-"], input=text, capture_output=True, text=True)
        if kind != "module.mjs" and done.returncode != 0:
            yield re.sub(r"^\[stdin\]:(\d+)", lambda match: places[int(match[1]) - 1], done.stderr)


def install(folder):
    """Has npm put ESLint into the folder, where it is not there."""
    package = folder / "node_modules/eslint/package.json"
    if package.exists() and json.loads(package.read_text())["version"] == ESLINT:
        return
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < NODE:
        skip(f"node {version}: at least {'.'.join(map(str, NODE))} expected")
    if not shutil.which("npm"):
        skip("no npm here (Debian: apt-get install npm)")
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"]
    done = subprocess.run(["npm", "install", "--prefix", folder, *options, f"eslint@{ESLINT}"], capture_output=True, text=True)
    if "ETARGET" in done.stderr:
        sys.exit(f"npm knows no eslint@{ESLINT}")
    if done.returncode != 0:
        skip(f"npm cannot install eslint@{ESLINT}: {done.stderr.partition(chr(10))[0]}")


def joined(*paths):
    """The texts of files, and for each line the file and its number there. What an export fills in is an empty list."""
    text, places = "", []
    for path in paths:
        code = re.sub(r"@[A-Z_]+@", "[]", path.read_text())
        if path.name == "network.js.in" and len(paths) > 1:
            code = MODULE.replace("%s\n", "%s") % re.sub(r"^export ", "", code, flags=re.MULTILINE).replace("import.meta.url", "location.href")
            places.append("make_page.py")
        text += code
        places += [f"{path.relative_to(PROJECT)}:{i + 1}" for i in range(code.count("\n"))]
    return text, places


def browser_scripts():
    """The kind of script in BROWSER's configuration, its text, and the places of its lines."""
    network = PROJECT / "cmake/network.js.in"
    for worker in sorted((PROJECT / "examples").rglob("*.worker.js")):
        yield "worker.js", *joined(network, SHARED / "worker.js", worker)
        page = worker.with_name(worker.name.replace(".worker.js", ".page.js"))
        yield "page.js", *joined(SHARED / "page.js", *([page] if page.exists() else []))
    for path in (network, *sorted((PROJECT / "benchmarks").rglob("*.mjs")), *sorted((PROJECT / "tests").rglob("*.mjs"))):
        yield "module.mjs", *joined(path)


def eslint(folder):
    """What ESLint finds, a line each."""
    install(folder)
    yield from eslint_of("page.js", *page_script(), PAGE, folder)
    for kind, text, places in browser_scripts():
        yield from eslint_of(kind, text, places, BROWSER, folder)


def eslint_of(name, text, places, rules, folder):
    command = ["node", folder / "node_modules/eslint/bin/eslint.js", "--config", "eslint.config.cjs", "--format", "json",
               "--stdin", "--stdin-filename", name]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=rules,
                          env={**os.environ, "NODE_PATH": str(folder / "node_modules")})
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    for each in json.loads(done.stdout)[0]["messages"]:
        yield f"{places[min(each.get('line', 1), len(places)) - 1]}: {each['message']} ({each['ruleId']})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["syntax", "eslint"])
    parser.add_argument("folder", nargs="?", type=Path, help="where ESLint is, or is put")
    arguments = parser.parse_args()
    if (arguments.check == "eslint") != bool(arguments.folder):
        parser.error("eslint and a folder, or syntax without one, expected")
    if not shutil.which("node"):
        skip("no node here (Debian: apt-get install nodejs)")
    problems = list(eslint(arguments.folder.resolve()) if arguments.check == "eslint" else syntax())
    print("\n".join(dict.fromkeys(problems)) or f"{len(make_header.scripts())} scripts of the report, {len(list(browser_scripts()))} of browsers and node: nothing found")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
