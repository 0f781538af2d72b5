#!/usr/bin/env python3
"""Lists all cases of the tests by name: test cases of programs, cases of tests/fail, sources of tests/static, blocks of pages, rules,
examples and scripts. With `--beside COMMIT`, prints only the cases of that commit that are no longer there, and fails if there are any.
A case that another file has now is there.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
# A name may be given in pieces, which the compiler puts together.
TEST_CASE = re.compile(r'^\s*(?:TEMPLATE_)?TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
FAIL_CASE = re.compile(r"^\s*// CASE (\w+)", re.MULTILINE)
PIECE_BORDER = re.compile(r'"\s*"')


def cases_of(folder):
    """By kind and name, how often each is there."""
    cases = Counter()
    for source in sorted((folder / "tests").rglob("*.cpp")):
        text, path = source.read_text(), source.relative_to(folder / "tests")
        kind = path.parts[0]
        for match in TEST_CASE.findall(text):
            cases[kind, PIECE_BORDER.sub("", match).strip()] += 1
        if kind == "fail":
            names = FAIL_CASE.findall(text)
            cases.update((kind, f"{path.stem}: {name}") for name in names or ["whole program"])
        elif kind in ("static", "stack", "distributed"):
            cases[kind, str(path)] += 1
    for script in (folder / "tests").rglob("*.py"):
        cases["script", script.name] += 1
    for page in [folder / "README.md", *(folder / "docs").rglob("*.md")]:
        for block in re.findall(r"^```cpp\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            cases["page", " ".join(block.split())[:100]] += 1
    for example in (folder / "examples").rglob("*.cpp"):
        if re.search(r"^// labels:", example.read_text(), re.MULTILINE):
            cases["example", example.name] += 1
    return +cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="COMMIT")
    options = parser.parse_args()
    cases = cases_of(PROJECT)
    if not options.beside:
        for (kind, name), count in sorted(cases.items()):
            print(kind, name, *([f"({count})"] if count > 1 else []))
        return
    archive = subprocess.run(["git", "archive", options.beside, "tests", "docs", "examples", "README.md"], cwd=PROJECT, check=True,
                             stdout=subprocess.PIPE).stdout
    with tempfile.TemporaryDirectory() as folder:
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder)
        before = cases_of(Path(folder))
    missing = before - cases
    for (kind, name), count in sorted(missing.items()):
        print(kind, name, *([f"({count})"] if count > 1 else []))
    print(f"{sum(before.values())} cases at {options.beside}, {sum(cases.values())} now: {sum(missing.values())} are no longer there")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
