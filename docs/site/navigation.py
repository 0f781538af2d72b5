"""The navigation of the site: docs/index.md, whose sections and lines it has in their order.

A line of a list, `- [Title](page.md): what one finds there`, adds a page. Headings of the second level are the parts of the site,
headings of the third level are groups within a part.
"""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INDEX = PROJECT / "docs" / "index.md"
# Pages that bring others with them: by the page, where those are. They come in the order of their names, or of the page's links.
CHILDREN = {"docs/generated/ops.md": "docs/generated/ops/*.md", "examples": "examples/lessons/*.cpp"}


def linked(page, target):
    """The path within the project of what a page links to."""
    return str((PROJECT / page).parent.joinpath(target).resolve().relative_to(PROJECT))


def entries(index=INDEX):
    """The lines of lists as (part, group or None, title, path within the project), in their order."""
    part, group = None, None
    name = str(index.relative_to(PROJECT))
    for line in index.read_text().splitlines():
        if match := re.match(r"## (.*)", line):
            part, group = match[1], None
        elif match := re.match(r"### (.*)", line):
            group = match[1]
        elif part and (match := re.match(r"- \[([^\]]*)\]\(([^)#\s]+)\)", line)) and ":" not in match[2]:
            yield part, group, match[1], linked(name, match[2])


def children(path):
    """The pages that come below a page, by their paths within the project."""
    if path not in CHILDREN:
        return []
    found = [str(each.relative_to(PROJECT)) for each in sorted(PROJECT.glob(CHILDREN[path]))]
    if not path.endswith(".md"):
        return found
    order = [linked(path, target) for target in re.findall(r"\]\(([^)#\s]+)", (PROJECT / path).read_text())]
    return sorted(found, key=lambda each: order.index(each) if each in order else len(order))
