#!/usr/bin/env python3
"""What pages and comments point to exists: links between pages, their anchors, and the files and directories that are named. A link
whose text is a file's name leads to that file. Headings that messages of headers name are there, too: docs/page.md#heading.

A path may begin at any of ROOTS, or beside the file that names it. A file's name alone must be that of some file of the project.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ROOTS = ["", "include", "include/tilewright", "tests", "examples", "benchmarks", "docs"]
# Files that a reader makes, and files of other projects that are the source of a constant.
OTHERS = re.compile(r"^(build|drawings|share|boost|xtensor|nlohmann|popops|CLI)/|.*/NAME\.hpp$|^(trainer|train_step)\.[hc]pp$|^compile_commands\.json$|"
                    r"^(HostSliceTensor\.cpp|test_popart_bert_inf\.py)$")
ENDINGS = "hpp|cpp|py|md|cmake|txt|json"
NAMED_FILE = re.compile(rf"(?<![\w/.<*$-])((?:\w[\w.-]*/)*\w[\w-]*\.(?:{ENDINGS}))(?![\w/*])")
NAMED_DIRECTORY = re.compile(r"^((?:\w[\w.-]*/)+)$")
COMMENT = {".hpp": r"//(.*)", ".cpp": r"//(.*)", ".py": r"#(.*)", ".txt": r"#(.*)", ".cmake": r"#(.*)"}


def files_of_project():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True) if shutil.which("git") else None
    if listed and listed.returncode == 0:
        paths = [PROJECT / name for name in listed.stdout.splitlines()]
    else:  # no git, or no checkout but an archive
        paths = [path for path in PROJECT.rglob("*") if "build" not in path.relative_to(PROJECT).parts]
    return sorted(path for path in paths if path.is_file())


def without_code(text):
    """The page with its fenced blocks blanked, so that lines keep their numbers."""
    return re.sub(r"^```.*?^```$", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors that GitHub gives to a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", without_code(page.read_text()), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found


def links(page):
    """Each relative link of a page that leads nowhere."""
    for number, line in enumerate(without_code(page.read_text()).splitlines(), 1):
        for text, target in re.findall(r"(?:\[([^\[\]]*))?\]\(([^)\s]+)\)", line):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            linked = (page.parent / name).resolve() if name else page
            if not linked.exists():
                yield f"{page}:{number}: {target}: no such file"
            elif NAMED_FILE.fullmatch(text) and not f"/{linked}".endswith(f"/{text}"):
                yield f"{page}:{number}: {text}: the name of {target} expected"
            elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
                yield f"{page}:{number}: {target}: no such heading"


def texts(file):
    """(line number, text) of a page's inline code and of other files' comments."""
    if file.suffix == ".md":
        for number, line in enumerate(without_code(file.read_text()).splitlines(), 1):
            for code in re.findall(r"`([^`]+)`", line):
                yield number, code
    elif pattern := COMMENT.get(file.suffix):
        if file.suffix == ".txt" and file.name != "CMakeLists.txt":
            return
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if match := re.search(pattern, line):
                yield number, match[1]


def named(file, known_names):
    """Each file or directory that a page or comment names and that is not there."""
    for number, text in texts(file):
        names = NAMED_FILE.findall(text)
        if file.suffix == ".md":
            names += NAMED_DIRECTORY.findall(text)
        for name in names:
            if OTHERS.match(name) or ("/" not in name and name in known_names):
                continue
            if not any((base / name).exists() for base in [file.parent, *(PROJECT / root for root in ROOTS)]):
                yield f"{file}:{number}: {name}: no such file"


def headings_of_messages(file):
    """Each heading that a header names, as errors do, and that is not there."""
    if file.suffix != ".hpp":
        return
    for number, line in enumerate(file.read_text().splitlines(), 1):
        for page, anchor in re.findall(r"(docs/[\w/-]+\.md)#([\w-]+)", line):
            if not (PROJECT / page).exists() or anchor not in anchors(PROJECT / page):
                yield f"{file}:{number}: {page}#{anchor}: no such heading"


def main():
    files = files_of_project()
    known_names = {file.name for file in files}
    problems = []
    for file in files:
        if file.suffix == ".md":
            problems += links(file)
        problems += named(file, known_names)
        problems += headings_of_messages(file)
    print("\n".join(problems) or f"{len(files)} files: all that they name is there")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
