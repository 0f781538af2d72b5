#!/usr/bin/env python3
"""A directory of include/tilewright includes only itself and those above it in the first two tables of docs/how-it-works/architecture.md.

The second table has the extras: no other directory includes one, nor does a header beside the directories, such as tilewright.hpp,
except the header of its name, such as lab.hpp; and each is a component of CMake. A row that says "(uses `a/` and `b/x.hpp` only)" is
a directory that may include these and no others. A row that says "(`c/` in `y.hpp` only)" is one whose file y.hpp alone includes c/.
The third table has the files and folders of lower/: each includes only itself and those above it. No file includes itself by others.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include" / "tilewright"
PAGE = PROJECT / "docs/how-it-works/architecture.md"
COMPONENTS = PROJECT / "cmake" / "tilewright-components.cmake"


def read_tables():
    """The directories in their order, the extras among them, what else limits each, and which of its files alone include another
    directory."""
    order, extras, only, doors = [], set(), {}, {}
    is_extra = False
    for line in PAGE.read_text().split("\n## ")[0].splitlines():
        is_extra = is_extra or line.startswith("| extra |")
        if match := re.match(r"\| `(\w+)/` \|(.*)\|$", line):
            directory, text = match.groups()
            order.append(directory)
            if is_extra:
                extras.add(directory)
            if limit := re.search(r"\(uses ([^)]*) only\)", text):
                only[directory] = re.findall(r"`([\w/.]+)`", limit[1])
            for target, file in re.findall(r"\(`(\w+)/` in `([\w.]+)` only\)", text):
                doors[directory, target] = file
    if not extras or len(extras) == len(order):
        sys.exit(f"{PAGE}: a table of directories, and one of extras, expected")
    return order, extras, only, doors


def includes(header):
    for number, line in enumerate(header.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*[<"](?:tilewright/)?([^>"]+\.hpp)[>"]', line):
            for base in (LIBRARY, header.parent):
                if (path := (base / match[1]).resolve()).is_file() and path.is_relative_to(LIBRARY):
                    yield number, path.relative_to(LIBRARY)
                    break


def check(order, extras, only, doors):
    """What is wrong, one line each."""
    components = re.search(r"set\(tilewright_components (.*)\)", COMPONENTS.read_text())[1].split()
    for extra in sorted(extras - set(components)):
        yield f"{COMPONENTS}: no component {extra}: one for each extra expected"
    for header in sorted(LIBRARY.rglob("*.hpp")):
        file = header.relative_to(LIBRARY)
        directory = file.parts[0]
        if len(file.parts) == 1:  # tilewright.hpp, which includes all but extras, or the door of an extra
            for number, included in includes(header):
                if included.parts[0] in extras - {header.stem}:
                    yield f"{header}:{number}: includes {included}, of an extra: a directory of the library expected"
            continue
        if directory not in order:
            yield f"{header}: `{directory}/` is not in the table of {PAGE}"
            continue
        for number, included in includes(header):
            target = included.parts[0]
            if target == directory or len(included.parts) == 1:
                continue
            where = f"{header}:{number}: includes {included}"
            if target in extras and directory not in extras:
                yield f"{where}, of an extra: a directory of the library expected"
            elif target not in order[: order.index(directory)]:
                yield f"{where}: a directory above `{directory}/` expected"
            elif directory in only and f"{target}/" not in only[directory] and str(included) not in only[directory]:
                yield f"{where}: one of {', '.join(only[directory])} expected"
            elif doors.get((directory, target), file.name) != file.name:
                yield f"{where}: only {doors[directory, target]} includes `{target}/`"


def floors():
    """What includes upwards within lower/, one line each."""
    rows = re.search(r"^\| of `lower/` \|.*?\n\n", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0].strip().splitlines()[2:]
    order = [room for row in rows for room in re.findall(r"`lower/([\w.]+)/?`", row.split("|")[1])]
    for header in sorted((LIBRARY / "lower").rglob("*.hpp")):
        room = header.relative_to(LIBRARY / "lower").parts[0]
        if room not in order:
            yield f"{header}: `{room}` is not in the table of lower/ of {PAGE}"
            continue
        for number, included in includes(header):
            if included.parts[0] == "lower" and order.index(included.parts[1]) > order.index(room):
                yield f"{header}:{number}: includes {included}: a room of lower/ above `{room}` expected"


def circles():
    """Files that include each other, one line for each circle that is found."""
    state, path = {}, []  # by file: whether all that it includes is known

    def follow(file):
        state[file] = False
        path.append(file)
        for _, included in includes(LIBRARY / file):
            if len(included.parts) == 1:  # core/requirements.hpp includes tilewright.hpp where a compiler is too old
                continue
            if state.get(included) is None:
                yield from follow(included)
            elif not state[included]:
                yield "these include each other: " + ", ".join(map(str, path[path.index(included):]))
        path.pop()
        state[file] = True

    for header in sorted(LIBRARY.rglob("*/*.hpp")):
        if state.get(header.relative_to(LIBRARY)) is None:
            yield from follow(header.relative_to(LIBRARY))


def main():
    order, extras, *limits = read_tables()
    problems = [*check(order, extras, *limits), *floors(), *circles()]
    print("\n".join(problems) or f"{len(order)} directories, {len(extras)} of them extras: each includes only those above it, as "
                                 "do the rooms of lower/, the library no extra, and no file itself by others")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
