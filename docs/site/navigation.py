"""The navigation of the site: docs/index.md, whose sections and lines it has in their order.

A line of a list, `- [Title](page.md): what one finds there`, adds a page. Headings of the second level are the parts of the site,
headings of the third level are groups within a part.
"""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
INDEX = PROJECT / "docs" / "index.md"
# Pages that bring others with them: by the page, where those are. They come in the order of the page's links.
CHILDREN = {"docs/generated/ops.md": "docs/generated/ops/*.md", "examples/README.md": "examples/lessons/*.cpp"}


def linked(page, target):
    """The path within the project of what a page links to; of a folder with a README.md, that of this."""
    found = (PROJECT / page).parent.joinpath(target).resolve()
    found = found / "README.md" if (found / "README.md").exists() else found
    return str(found.relative_to(PROJECT))


def links(page):
    """The links of a page: by path within the project, the text of the first."""
    found = {}
    for text, target in re.findall(r"\[([^\[\]]*)\]\(([^)#\s]+)", (PROJECT / page).read_text()):
        if not re.match(r"\w+:", target):
            found.setdefault(linked(page, target), text)
    return found


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
    """The pages that come below a page: by path within the project, the text of the page's link to it, or None."""
    if path not in CHILDREN:
        return {}
    found = sorted(str(each.relative_to(PROJECT)) for each in PROJECT.glob(CHILDREN[path]))
    of_page = links(path)
    order = list(of_page)
    found.sort(key=lambda each: order.index(each) if each in order else len(order))
    return {each: of_page.get(each) for each in found}
