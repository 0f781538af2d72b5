#!/usr/bin/env python3
"""Lessons are what their pages say. Each of examples/lessons/ is one file without headers of examples, has fewer than 120 lines,
and begins with its number and title, what it prints and what to try. examples/README.md lists all in order. Each has a section in
docs/start/getting-started.md, which links to it and says how it is run.

A block of a page below a comment is part of a file, line by line; `// ...` stands for lines that are left out:

    <!-- part of examples/lessons/01_a_layer.cpp -->
    <!-- printed by examples/lessons/01_a_layer.cpp -->
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LESSONS = sorted((PROJECT / "examples/lessons").glob("*.cpp"))
START = PROJECT / "docs/start/getting-started.md"
BLOCK = re.compile(r"^<!-- (part of|printed by) (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def head_of(text):
    """The comment at the top, without the slashes."""
    return "\n".join(re.sub(r"^// ?", "", line) for line in re.match(r"(?://.*\n)*", text)[0].splitlines())


def wrong_in_lesson(path, number):
    text = path.read_text()
    head = head_of(text)
    if not path.name.startswith(f"{number:02}_"):
        yield f"{number:02}_ expected"
    if len(text.splitlines()) >= 120:
        yield f"{len(text.splitlines())} lines: fewer than 120 expected"
    if '#include "' in text:
        yield 'an #include "...": only headers of the library and of the system expected'
    if not re.match(rf"Lesson {number}: .*\.\n", head):
        yield f"'// Lesson {number}: ...' as the first line expected"
    if not re.search(r"^It prints:\n\n(?:    .*\n)+", head, re.MULTILINE) or not re.search(r"^Try: ", head, re.MULTILINE):
        yield "'It prints:' with indented lines, and 'Try: ...', expected"


def sections_of(page):
    """The text of each section, by its heading."""
    parts = re.split(r"^## (.*)$", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def wrong_on_start():
    sections = [(name, text) for name, text in sections_of(START).items() if re.match(r"\d+\. ", name)]
    for number, path in enumerate(LESSONS, 1):
        name, text = sections[number - 1] if number <= len(sections) else ("no section", "")
        wanted = (f"(../../examples/lessons/{path.name})", f"`./dev example {number}`")
        if not name.startswith(f"{number}. ") or not all(part in text for part in wanted):
            yield f"{START.name}: {name}: section {number}. with {' and '.join(wanted)} expected"
    if len(sections) > len(LESSONS):
        yield f"{START.name}: {len(sections)} sections of {len(LESSONS)} lessons"


def wrong_in_list():
    page = PROJECT / "examples/README.md"
    listed = re.findall(r"\]\(lessons/([^)]*)\)", page.read_text())
    if listed != [path.name for path in LESSONS]:
        yield f"examples/README.md: all lessons in order expected, not {', '.join(listed)}"


def is_part(block, text):
    """Whether the pieces between `// ...` are in the text, one after the other, as whole lines."""
    at = 0
    for piece in re.split(r"^ *// \.\.\.$", block, flags=re.MULTILINE):
        lines = piece.strip("\n") + "\n"
        found = ("\n" + text).find("\n" + lines, at)
        if found < 0:
            return False
        at = found + len(lines)
    return True


def wrong_parts(page):
    for kind, name, block in BLOCK.findall(page.read_text()):
        path = PROJECT / name
        if not path.is_file():
            yield f"{page.name}: there is no {name}"
            continue
        text = path.read_text()
        if kind == "printed by":
            text = "\n".join(line.removeprefix("    ") for line in head_of(text).splitlines()) + "\n"
        if not is_part(block, text):
            yield f"{page.name}: not {kind} {name}:\n{block}"


def main():
    wrong = [f"{path.name}: {what}" for number, path in enumerate(LESSONS, 1) for what in wrong_in_lesson(path, number)]
    wrong += [*wrong_on_start(), *wrong_in_list()]
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "examples").rglob("*.md")]
    wrong += [what for page in pages for what in wrong_parts(page)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(LESSONS)} lessons: each is what its section and its list say")


if __name__ == "__main__":
    main()
