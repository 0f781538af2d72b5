#!/usr/bin/env python3
"""A doc comment (`///`) in include/ is understood alone: it does not begin with a word that points to another comment, or that hides
its subject, and it has no phrase that sends the reader to a neighbour.

A comment of a function begins with a verb ("Returns ..."), one of a type or a member with a noun. A comment behind a member (`///<`)
may go on with the member's name ("of the last layer").
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INCLUDE = PROJECT / "include"
# First words, without regard to capitals, and why they are refused.
POINTS_ELSEWHERE = "it points to another comment"
HIDES_SUBJECT = "it hides the subject"
FIRST_WORDS = {
    "the same": POINTS_ELSEWHERE, "the like": POINTS_ELSEWHERE, "the others": POINTS_ELSEWHERE, "the other": POINTS_ELSEWHERE,
    "as": POINTS_ELSEWHERE, "it": POINTS_ELSEWHERE, "its": POINTS_ELSEWHERE, "this": POINTS_ELSEWHERE, "that": POINTS_ELSEWHERE,
    "these": POINTS_ELSEWHERE, "those": POINTS_ELSEWHERE, "they": POINTS_ELSEWHERE, "their": POINTS_ELSEWHERE,
    "also": POINTS_ELSEWHERE, "so": POINTS_ELSEWHERE, "such": POINTS_ELSEWHERE, "likewise": POINTS_ELSEWHERE,
    "ditto": POINTS_ELSEWHERE, "another": POINTS_ELSEWHERE, "else": POINTS_ELSEWHERE, "otherwise": POINTS_ELSEWHERE,
    "there": HIDES_SUBJECT, "what": HIDES_SUBJECT, "which": HIDES_SUBJECT, "who": HIDES_SUBJECT,
    "while it lives": HIDES_SUBJECT, "notes": HIDES_SUBJECT, "says": HIDES_SUBJECT,
}
# Phrases that send the reader to a neighbour.
PHRASES = ("as above", "as below", "so for the", "say otherwise", "the rest as", "of the like", "here and below")
FIRST = re.compile(rf"({'|'.join(sorted(map(re.escape, FIRST_WORDS), key=len, reverse=True))})\b", re.IGNORECASE)
ANY_PHRASE = re.compile(rf"\b({'|'.join(map(re.escape, PHRASES))})\b", re.IGNORECASE)
BEHIND_CODE = re.compile(r"\S.*?///<? ?(.*)")
IN_A_LINE_OF_ITS_OWN = re.compile(r"\s*///(?!<) ?(.*)")


def comments(text):
    """Pairs of a doc comment's first line, from 1, and its text. A line of `///<` continues one behind code if it is far to the right."""
    found, above = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if match := IN_A_LINE_OF_ITS_OWN.fullmatch(line):
            if above:
                found[-1][1] += " " + match[1]
            else:
                found.append([number, match[1]])
            above = True
            continue
        above = False
        if re.match(r"\s*///<", line):
            if found:
                found[-1][1] += " " + re.sub(r"\s*///< ?", "", line)
        elif (match := BEHIND_CODE.search(line)) and '"' not in line.split("///")[0]:
            found.append([number, match[1]])
    return found


def problems(text):
    for number, comment in comments(text):
        if match := FIRST.match(comment):
            yield number, f"a doc comment begins with '{match[0]}', {FIRST_WORDS[match[0].lower()]}: a noun, or a verb such as Returns, expected"
        for match in ANY_PHRASE.finditer(comment):
            yield number, f"a doc comment has '{match[0]}': a comment that is understood alone expected"


def main():
    headers = sorted(path for path in INCLUDE.rglob("*.hpp"))
    found = [f"{path.relative_to(PROJECT)}:{number}: {problem}" for path in headers for number, problem in problems(path.read_text())]
    # the rule itself: what it must find, and what it must not
    for bad in ("/// The same for rows.", "int a;  ///< it is added", "/// What a step reads.\nint b;", "/// Adds, as above.\nint c;"):
        if not list(problems(bad)):
            found.append(f"{Path(__file__).name}: nothing found in {bad!r}: a problem expected")
    for good in ("/// Returns what a step reads.", "int a;  ///< of the last layer", "/// Items of a list, its length included.\nint b;",
                 "/// Adds a.\n/// It is in place.", 'auto url = "http:///as";'):
        if list(problems(good)):
            found.append(f"{Path(__file__).name}: a problem found in {good!r}: none expected")
    if not headers:
        found.append("no headers found")
    print("\n".join(found) or f"{len(headers)} headers: each doc comment is understood alone")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
