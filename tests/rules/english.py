#!/usr/bin/env python3
"""Phrases that make a reader stop are neither in README.md, CONTRIBUTING.md and pages that are written by hand, nor in doc comments
of include/. REFUSED says what to write instead.

Code, in a block or between backquotes, and quoted text are not looked at.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

# By phrase, a regular expression of whole words: what to write instead.
REFUSED = {
    "so (many|few)(?! \\w+( \\w+)? that)": "the number, or its name: `n` images",
    "equally (many|few)|as many(?= of\\b|[.,;:)])": "the same number of",
    "(?<!such )as (that|those) (of|is|are|in|for)": "the noun again: the shape of x",
    "those of which|that which": "the noun again",
    "of whose": "a second sentence",
    "(is|are|was|were|be|been) told": "gets, is given, or the option's name",
    "at hand": "available, present, or given",
    "besides": "also, in addition, or except",
    "shall": "must, or the present tense",
    "(but|save) for": "except, or without",
    "all but": "all except",
    "(none|nothing|nobody) but": "only",
    "by turns": "alternately, or in turn",
    "come(s)? about": "is made, or arises",
    "(is|are|were|was) so(?=[.,;:])": "is true, or the fact again",
    "(can|may|could|would) so": "in this way",
    "the (former|latter)": "the noun again",
    "of (before|after)(?= (the|a|it|that|this|them)\\b|[.,;:])|from (before|after)(?=[.,;:])": "previous, earlier, later",
    "in vain": "without effect",
    "not un(?!til|less|der|it|ion|iform|ique|ary|rolled)\\w+": "the positive word",
    "no (multiple|member) of": "not a multiple of",
    "(at|of|in) one's( own)?": "your own, or the user's",
    "(is|are) had": "an active verb",
    "out of it": "the noun again",
    "anew|once more": "again",
    "lest|ere|oft|whence|whither|thence|hither|therein|thereof|thereby|whereby|wherein|hereby|herein|aforementioned|albeit":
        "a plain word: so, there, in it, although",
    "be it": "whether",
    "in good time": "early enough",
    "for nothing(?! else)": "without effect",
    "must needs": "must",
    "as it were|so to speak": "nothing: leave it out",
    "what (is|was) said (of|above|below|there)": "the fact again, or a link",
}
# In pages only, at the beginning of a sentence.
BEGINNINGS = [(re.compile(rf"(?:^|(?<=[.;:-] ))(?:{phrase})"), advice) for phrase, advice in {
    r"Of (?!the |these |those |all |\d)": "the subject first",
    r"The same (for|of|as|in|by|where|with)\b": "a sentence with a verb",
}.items()]

PATTERNS = [(re.compile(rf"(?<![\w'-])(?:{phrase})(?![\w'-])", re.IGNORECASE), advice) for phrase, advice in REFUSED.items()]


def pages():
    yield PROJECT / "README.md"
    yield PROJECT / "CONTRIBUTING.md"
    yield from (page for page in sorted((PROJECT / "docs").rglob("*.md")) if "generated" not in page.parts)


def page_paragraphs(text):
    """Runs of lines that are not blank, outside of blocks of code: the number of the first, and the lines."""
    is_code, number, lines = False, 0, []
    for index, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        if fence or is_code or not line.strip():
            if lines:
                yield number, lines
            lines = []
            is_code ^= fence
            continue
        number = number if lines else index
        lines.append(line)
    if lines:
        yield number, lines


def doc_comments(text):
    """Runs of lines of `///`."""
    number, lines = 0, []
    for index, line in enumerate([*text.splitlines(), ""], 1):
        match = re.match(r"(\s*)///<?(.*)", line) or re.match(r"(.*?)///<(.*)", line)
        if lines and (not match or match[1].strip()):  # a comment behind code begins a new one
            yield number, lines
            lines = []
        if match:
            number = number if lines else index
            lines.append(match[2])


def without_code(text):
    """One line, with `_` in place of what is code, quoted, or a link's address."""
    blank = lambda match: "_" * len(match[0])  # noqa: E731
    return re.sub(r'`[^`]*`|"[^"\n]{1,200}"|\]\([^)]*\)', blank, text).replace("\n", " ")


def problems(path, paragraphs, is_comment):
    for number, lines in paragraphs:
        text = without_code("\n".join(line.strip() for line in lines))
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.strip()) + 1)
        for pattern, advice in PATTERNS if is_comment else PATTERNS + BEGINNINGS:
            for match in pattern.finditer(text):
                line = number + sum(start <= match.start() for start in starts) - 1
                yield f"{path}:{line}: `{' '.join(match[0].split())}`: {advice} expected"


def main():
    found, paragraphs = [], 0
    sources = [(page, page_paragraphs(page.read_text()), False) for page in pages()]
    sources += [(header, doc_comments(header.read_text()), True) for header in sorted((PROJECT / "include").rglob("*.hpp"))]
    for path, parts, is_comment in sources:
        parts = list(parts)
        paragraphs += len(parts)
        found += problems(path.relative_to(PROJECT), parts, is_comment)
    print("\n".join(found) or f"{paragraphs} paragraphs and doc comments: none has a refused phrase")
    sys.exit(bool(found or not paragraphs))


if __name__ == "__main__":
    main()
