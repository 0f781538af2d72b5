#!/usr/bin/env python3
"""CMakeLists.txt, tilewright/version.hpp, and the first heading of CHANGELOG.md have one version, and docs/start/compiling.md
shows that one. Packages take theirs from CMake: tests named package/ compare them. CHANGELOG.md is short.

A deprecated name says since when and what to write, `[[deprecated("since 0.3.0: use g")]]`, and goes when docs/reference/stability.md says
so: 0.4.0 has this one, 0.5.0 does not.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CMAKE, HEADER = "CMakeLists.txt", "include/tilewright/version.hpp"
CHANGES, PAGE = "CHANGELOG.md", "docs/start/compiling.md"
SHOWN = re.compile(r"find_package\(tilewright ([\d.]+) |tilewright_([\d.]+)_all\.deb")
DEPRECATED = re.compile(r"\[\[deprecated(?:\(([^)]*)\))?")
VERSION = r"^project\(tilewright VERSION (\d+\.\d+\.\d+)\b"
MOST_LINES = 90  # of CHANGELOG.md


def found(texts, name, pattern):
    """The groups of the one match in a file; None, if there is none or more than one."""
    matches = re.findall(pattern, texts[name], re.MULTILINE)
    return matches[0] if len(matches) == 1 else None


def kept_for_too_long(version, headers):
    """Deprecated names of headers, given as (name, text), that do not say what they must, or that must be gone."""
    major, minor, _ = map(int, version.split("."))
    for name, text in headers:
        for match in DEPRECATED.finditer(text):
            place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            said = re.match(r'"since (\d+)\.(\d+)\.0: use \S', match[1] or "")
            if not said:
                yield f'{place}: {match[1] or "no text"}: "since X.Y.0: use NAME" expected'
            elif int(said[1]) < major or int(said[2]) + 1 < minor:
                yield f"{place}: {match[1]}: to be removed in {version}"


def check(texts):
    """What is wrong, one line each."""
    version = found(texts, CMAKE, VERSION)
    number = found(texts, HEADER, r"^#define TILEWRIGHT_VERSION (\d+)$")
    if not version or not number:
        yield f"{CMAKE} and {HEADER}: one version each expected"
        return
    major, minor, patch = map(int, version.split("."))
    if int(number) != 10000 * major + 100 * minor + patch:
        yield f"{HEADER}: {number}: {10000 * major + 100 * minor + patch} for the version {version} of {CMAKE} expected"
    shown = [match[1] or match[2] for match in SHOWN.finditer(texts[PAGE])]
    if not shown or any(text not in (version, f"{major}.{minor}") for text in shown):
        yield f"{PAGE}: versions {', '.join(shown)} shown: {version} expected"
    if len(texts[CHANGES].splitlines()) > MOST_LINES:
        yield f"{CHANGES}: {len(texts[CHANGES].splitlines())} lines: at most {MOST_LINES} expected"
    headings = re.findall(r"^## (.*)$", texts[CHANGES], re.MULTILINE)
    if not headings or headings[0] != version:
        yield f"{CHANGES}: first heading '{headings[0] if headings else ''}': '{version}', the version of {CMAKE}, expected"
    versions = [tuple(map(int, heading.split("."))) for heading in headings if re.fullmatch(r"\d+\.\d+\.\d+", heading)]
    if len(versions) != len(headings) or any(a <= b for a, b in zip(versions, versions[1:])):
        yield f"{CHANGES}: headings {', '.join(headings)}: versions from the newest to the oldest expected"


def main():
    texts = {name: (PROJECT / name).read_text() for name in (CMAKE, HEADER, CHANGES, PAGE)}
    problems = list(check(texts))
    if version := found(texts, CMAKE, VERSION):
        headers = sorted((PROJECT / "include").rglob("*.hpp"))
        problems += kept_for_too_long(version, ((header, header.read_text()) for header in headers))
    print("\n".join(problems) or f"the version is the same in {', '.join(texts)}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
