#!/usr/bin/env python3
"""Writes the C++ of a page as sources that a compiler can check.

    extract.py PAGE FOLDER      writes FOLDER/<page>.cpp, and files whose names end in _program_<line>.cpp, _fails_<line>.cpp,
                                _mistake_<line>.cpp, _throws_<line>.cpp and _global_<line>.cpp, as there are such

A block that includes <tilewright/...> and names the namespace tw begins a section, and the blocks after it continue it. A
section that is one block with a main function is a program. All other sections are namespaces of <page>.cpp; their main functions
get other names. A section that adapts a struct for Boost.Hana is a file of its own, as that cannot be done in a namespace.

A comment before a block, which no reader sees, says what the block needs:

    <!-- compiled in NAME -->          Code of tests/docs/NAME.cpp around the block, which replaces the line `// the block`. If
                                       there is no such line, the file begins a section, and the block continues it.
    <!-- does not compile: TEXT -->    A program that the compiler refuses with this text.
    <!-- does not compile, as shown -->   A whole program with one mistake. The block of text after it has lines of GCC's output, the
                                       second block, if there is one, lines of Clang's. They become the comments of a program of
                                       tests/fail/users, see tests/fail/run.py.
    <!-- throws, as shown -->          A whole program that ends with an exception; the block of text after it is a part of what it
                                       prints.
    <!-- not compiled -->              What is no C++.
    <!-- rows compiled in NAME -->     A table in place of a block: each code in the last column is an expression, and so compiled.
    <!-- part of FILE -->              A part of an example, which is compiled there: tests/rules/lessons.py compares both.

In a block of text, a line `...` stands for lines that are left out. Line ends between two of them count as spaces.
"""

import re
import sys
from pathlib import Path

FRAMES = Path(__file__).resolve().parent
BLOCK = re.compile(r"^(?:<!-- (?P<note>[^\n]*?) -->\n)?```cpp\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- rows (?P<note>compiled in \w+) -->\n(?P<rows>(?:^\|.*\n)+)", re.MULTILINE)
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The message in an error of GCC's: ‘tilewright::error<tilewright::Message<34>{"..."}>’.
MESSAGE = re.compile(r'Message<\d+>\{"(.*)"\}')
MAIN = re.compile(r"^int main\(\)", re.MULTILINE)


def shown_parts(text):
    """The parts of a block of text, each on one line, with the quotes of the locale C."""
    parts = [" ".join(part.split()) for part in re.split(r"^\.\.\.$", text, flags=re.MULTILINE)]
    return [re.sub("[‘’]", "'", part) for part in parts if part]


class Block:
    def __init__(self, page, text, match):
        self.code = match["code"]
        self.line = text.count("\n", 0, match.start("code")) + 1
        self.note = match["note"] or ""
        self.located = f'#line {self.line} "{page}"\n{self.code}'
        self.is_main = bool(MAIN.search(self.code))
        self.begins = "#include <tilewright/" in self.code and "namespace tw = tilewright;" in self.code
        self.is_global = "BOOST_HANA_ADAPT_STRUCT" in self.code  # it opens namespaces
        end = re.search(r"^#+ |^```cpp$", text[match.end():], re.MULTILINE)
        self.texts = [shown_parts(shown) for shown in TEXT.findall(text[match.end():match.end() + end.start() if end else None])]
        if self.note and not re.match(r"compiled in \w+$|does not compile: .|(does not compile|throws), as shown$|not compiled$|"
                                      r"part of \S+$",
                                      self.note):
            sys.exit(f"{page}:{self.line - 2}: unknown comment before a block: {self.note}")


class Rows:
    """The expressions in the last column of a table."""

    begins, is_main, is_global, texts = True, False, False, ()

    def __init__(self, page, text, match):
        self.note = match["note"]
        self.line = text.count("\n", 0, match.start("rows")) + 1
        self.located = ""
        for line, row in enumerate(match["rows"].splitlines()[2:], self.line + 2):
            if not (codes := re.findall(r"`([^`]*)`", row.rstrip("| ").split("|")[-1])):
                sys.exit(f"{page}:{line}: code in the last column expected")
            for code in codes:
                self.located += f'#line {line} "{page}"\n{{ [[maybe_unused]] const auto row = {code}; }}\n'


def frame_of(page, block):
    """The text of the file that the block is compiled in, or None, and whether the block stands inside of it."""
    if not (match := re.fullmatch(r"compiled in (\w+)", block.note)):
        return None, False
    path = FRAMES / f"{match[1]}.cpp"
    if not path.is_file():
        sys.exit(f"{page}:{block.line - 2}: there is no {path}")
    text = f'#line 1 "{path}"\n{path.read_text()}'
    return text, "// the block\n" in text


def sections_of(page, blocks):
    """Lists of blocks; the texts of what they are compiled in are put into `located`."""
    sections = []
    for block in blocks:
        if block.note == "not compiled" or block.note.startswith("part of "):
            continue
        frame, inside = frame_of(page, block)
        if inside:
            before, after = frame.split("// the block\n")
            back = frame.split("\n", 1)[0].replace("#line 1", f"#line {before.count(chr(10)) + 1}")
            block.located = f"namespace line_{block.line} {{\n{before}{block.located}{back}\n{after}}}\n"
        elif frame:
            block.located = frame + block.located
        if not sections or block.begins or (frame and not inside):
            sections.append([])
        sections[-1].append(block)
    return sections


def hoisted(code):
    """The include directives of the code, and the code without them and without what a file of its own would need."""
    includes = re.findall(r"^#include <.*>.*$", code, re.MULTILINE)
    return includes, re.sub(r"^#(include|pragma once).*$", "", code, flags=re.MULTILINE)


def as_namespace(section):
    """The include directives of a section, and its code in a namespace, or in none if it must be global."""
    code = "".join(block.located for block in section)
    includes, code = hoisted(code)
    number = 0
    while MAIN.search(code):  # a function that returns nothing needs no return
        code, number = MAIN.sub(f"void main_{number}()", code, count=1), number + 1
    names = "namespace tw = tilewright;\nusing namespace tw::literals;\n"
    if any(block.is_global for block in section):
        return includes, names + code
    return includes, (f"namespace from_line_{section[0].line} {{\n{names}{code}"
                      f"}}  // namespace from_line_{section[0].line}\n")


def mistake(page, block):
    """A program with one mistake, and comments that say what compilers print."""
    if not block.texts:
        sys.exit(f"{page}:{block.line}: a block of text with the message expected after the program")
    gcc, *others = block.texts
    message = MESSAGE.search(gcc[0])  # Clang prints it in pieces
    clang = others[0] if others else [message[1]] if message else []
    lines = [f"// {'later' if number else 'first'}-{compiler}: {part}"
             for compiler, parts in (("GCC", gcc), ("Clang", clang)) for number, part in enumerate(parts)]
    return "\n".join(lines) + "\n" + block.located


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    text = page.read_text()
    files, includes, namespaces = {}, ["#include <tilewright/tilewright.hpp>"], []
    blocks = [*(Block(page, text, match) for match in BLOCK.finditer(text)), *(Rows(page, text, match) for match in TABLE.finditer(text))]
    for section in sections_of(page, sorted(blocks, key=lambda block: block.line)):
        first = section[0]
        if first.note.startswith("does not compile: "):
            expected = first.note.removeprefix("does not compile: ")
            files[f"_fails_{first.line}"] = (f"// CASE as_shown\n// expect: {expected}\n#ifdef CASE_as_shown\n{first.located}"
                                             "#endif\n")
            first.located = re.sub(r"^int main\(\) \{.*\}$", "", first.located, flags=re.MULTILINE)
        elif first.note == "does not compile, as shown":
            files[f"_mistake_{first.line}"] = mistake(page, first)
            continue
        elif first.note == "throws, as shown":
            files[f"_throws_{first.line}"] = "".join(f"// prints: {part}\n" for part in sum(first.texts, [])) + first.located
            continue
        elif len(section) == 1 and first.begins and first.is_main:
            files[f"_program_{first.line}"] = first.located
            continue
        section_includes, namespace = as_namespace(section)
        if any(block.is_global for block in section):
            files[f"_global_{first.line}"] = "\n".join([*includes[:1], *section_includes, namespace])
            continue
        includes += section_includes
        namespaces.append(namespace)
    if namespaces:
        # Functions of a page share its namespaces, so that a local name may be one of another block too.
        files[""] = "\n".join([*dict.fromkeys(includes), '#pragma GCC diagnostic ignored "-Wshadow"', *namespaces])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{page.stem}*.cpp"):
        if old.stem.removeprefix(page.stem) not in files:
            old.unlink()
    for suffix, content in files.items():
        path = folder / f"{page.stem}{suffix}.cpp"
        if not path.exists() or path.read_text() != content:  # an unchanged source is not compiled again
            path.write_text(content)
        print(path)


if __name__ == "__main__":
    main()
