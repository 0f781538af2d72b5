#!/usr/bin/env python3
"""Builds the site of the pages with MkDocs and its theme Material (Debian: apt-get install mkdocs mkdocs-material).

    docs/site/build.py [--into build/site] [--reports FOLDER] [--serve [PORT]]

docs/index.md is its navigation. README.md is its first page; files and folders that pages link to become pages too. The line
`<!-- live: NAME -->` above a picture puts FOLDER/NAME.html in the picture's place, if it is there: `./dev report NAME` writes it, or
examples/browser/make_page.py. Links and anchors stay those of GitHub.
"""

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import navigation  # noqa: E402
from navigation import PROJECT  # noqa: E402

SITE = Path(__file__).resolve().parent
FIRST = ["README.md", "docs/index.md"]
PICTURES = {".png", ".svg", ".jpg"}
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "cpp", ".py": "python", ".txt": "text", ".cmake": "cmake", ".json": "json",
             ".js": "javascript", ".css": "css", ".html": "html", ".yml": "yaml", ".sh": "bash"}
LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\[\]]*\])*\]\()([^)#\s]+)(#[^)\s]*)?(\))")


def outside_of_code(change, text):
    """The text with `change` applied to what stands outside of fenced blocks."""
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def with_anchors(text):
    """Headings with the anchors that GitHub gives them."""
    found = set()

    def heading(match):
        anchor = re.sub(r"[^\w\- ]", "", match[2].strip().lower()).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
        return f"{match[1]} {match[2].strip()} {{ #{name} }}"
    return outside_of_code(lambda part: re.sub(r"^(#+) +(.*)$", heading, part, flags=re.MULTILINE), text)


def with_wide_lists(text):
    """Lists as Python-Markdown reads them: after an empty line, and what is within an item indented by four columns."""
    lines, open_items, code, before = [], [], False, ""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        fence = line.lstrip().startswith("```")
        item = None if code or fence else re.match(r"( *)([-*]|\d+\.) +(?=\S)", line)
        if line.strip() and not code:
            is_lazy = not item and not fence and open_items and before.strip() and indent < open_items[-1]
            while open_items and indent < open_items[-1] and not is_lazy:
                open_items.pop()
        if item:
            if before.strip() and not open_items and not re.match(r" *([-*]|\d+\.) ", before):
                lines.append("")
            lines.append(" " * 4 * len(open_items) + f"{item[2]} {line[item.end():]}")
            open_items.append(item.end())
        elif line.strip() and open_items:
            lines.append(" " * (4 * len(open_items) + max(0, indent - open_items[-1])) + line.lstrip())
        else:
            lines.append(line)
        code ^= fence
        before = line
    return "\n".join(lines) + "\n"


def with_plain_bars(text):
    """Bars in the code of tables without the backslash that GitHub wants: Python-Markdown would show it."""
    def row(match):
        return re.sub(r"`[^`]+`", lambda code: code[0].replace("\\|", "|"), match[0])
    return outside_of_code(lambda part: re.sub(r"^\|.*$", row, part, flags=re.MULTILINE), text)


class Pages:
    """The pages of the site, as MkDocs reads them, in a folder that looks like the project's."""

    def __init__(self, folder, reports):
        self.folder, self.reports, self.done, self.waiting = folder, reports, {}, []
        self.listed = {child for _, _, _, path in navigation.entries() for child in navigation.children(path)}

    def add(self, path):
        """Makes a page of what stands at a path within the project, later; returns the page's path."""
        if path in self.done:
            return self.done[path]
        source = PROJECT / path
        if source.is_dir():
            page = f"{path}/index.md"
        else:
            page = path if source.suffix in {".md"} | PICTURES else f"{path}.md"
        page = re.sub(r"(^|/)\.", r"\1dot-", page)  # MkDocs leaves out what is hidden
        if not source.exists():
            sys.exit(f"{path}: a file or folder of the project expected")
        self.done[path] = page
        self.waiting.append(path)
        return page

    def write_all(self):
        while self.waiting:
            self.write(self.waiting.pop())

    def write(self, path):
        source, target = PROJECT / path, self.folder / self.done[path]
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in PICTURES:
            shutil.copyfile(source, target)
        elif source.is_dir():
            target.write_text(self.list_of(source))
        elif source.suffix == ".md":
            target.write_text(self.page(path))
        else:
            target.write_text(self.source_page(path))

    def page(self, path):
        text = (PROJECT / path).read_text()
        text = re.sub(r"^<!-- live: (\w+) -->\n(!\[.*)$", lambda match: self.live(match[1], match[2], path), text, flags=re.MULTILINE)
        text = re.sub(r"^<!-- (?!live).*? -->\n", "", text, flags=re.MULTILINE)  # what tests read
        text = outside_of_code(lambda part: re.sub(r"\]\((?=[^()\s]+ [^)\"]*\))", r"]\\(", part), text)  # no link: `[](auto& x)`
        text = outside_of_code(lambda part: LINK.sub(lambda match: self.link(match, path), part), text)
        hidden = "hide: [navigation, toc]\n" if "<iframe" in text or path == "README.md" else ""  # for wide code
        title = title_of(text)
        return f"---\ntitle: {json.dumps(title)}\n{hidden}---\n" + with_plain_bars(with_wide_lists(with_anchors(text)))

    def link(self, match, path):
        before, target, anchor, after = match[1], match[2], match[3] or "", match[4]
        if re.match(r"\w+:", target):
            return match[0]
        page = self.add(navigation.linked(path, target))
        return before + os.path.relpath(page, Path(path).parent) + anchor + after

    def live(self, name, picture, path):
        report = self.reports / f"{name}.html" if self.reports else None
        if not report or not report.exists():
            print(f"WITHOUT {name}.html: {path} has its picture", file=sys.stderr)
            return picture
        (self.folder / "reports").mkdir(exist_ok=True)
        shutil.copyfile(report, self.folder / "reports" / report.name)
        address = os.path.relpath(f"reports/{name}.html", Path(path).parent)
        return f'<p><a href="{address}">This on a page of its own</a></p>\n<iframe src="{address}" title="{name}"></iframe>'

    def source_page(self, path):
        text = (PROJECT / path).read_text()
        fence = "`" * (3 + max(map(len, re.findall(r"`+", text)), default=0))
        language = LANGUAGES.get(Path(path).suffix, "text")
        if Path(path).name == "CMakeLists.txt":
            language = "cmake"
        title = Path(path).name
        template = "hide: [toc]\n" if path in self.listed else "template: source.html\n"
        return f"---\ntitle: {title}\n{template}---\n# `{path}`\n\n{fence}{language}\n{text}{fence}\n"

    def list_of(self, folder):
        """A page of a folder's files; those that other pages link to are links, and all of them in folders of examples."""
        path = str(folder.relative_to(PROJECT))
        lines = []
        for each in sorted(folder.iterdir()):
            name = each.name + ("/" if each.is_dir() else "")
            within = str(each.relative_to(PROJECT))
            if each.name.startswith((".", "__")):
                continue
            if within in self.done or (path.startswith("examples") and (each.is_dir() or each.suffix in LANGUAGES)):
                lines.append(f"- [{name}]({os.path.relpath(self.add(within), path)})")
            else:
                lines.append(f"- {name}")
        return f"---\ntitle: {path}\nhide: [toc]\n---\n# `{path}/`\n\n" + "\n".join(lines) + "\n"


def title_of(text):
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1].replace("`", "")


def title_of_child(path, text):
    """The title of a page, or of a source that a page links to with this text."""
    if path.endswith(".md"):
        return title_of((PROJECT / path).read_text())
    if match := re.fullmatch(r"(?:.*/)?(\d+)_(\w+)\.cpp", text or path):  # a lesson
        return f"{int(match[1])} {match[2].replace('_', ' ').capitalize()}"
    return (text or Path(path).name).replace("`", "")


def entry_of(pages, title, path):
    """A line of the navigation: a page, or a list of the page and of those below it."""
    below = [{title_of_child(child, text): pages.add(child)} for child, text in navigation.children(path).items()]
    return {title: [{f"All {title[0].lower()}{title[1:]}": pages.add(path)}, *below] if below else pages.add(path)}


def navigation_of(pages):
    """The navigation as MkDocs wants it."""
    parts = {}
    for part, group, title, path in navigation.entries():
        parts.setdefault(part, {}).setdefault(group, []).append(entry_of(pages, title, path))
    result = []
    for part, groups in parts.items():
        within = []
        for group, found in groups.items():
            within += [{group: found}] if group else found
        alone = next(iter(within[0].values())) if len(within) == 1 else None
        result.append({part: alone if isinstance(alone, list) else within})
    (name, found), = result[0].items()
    result[0] = {name: [{"tilewright": pages.add("README.md")}, {"All pages": pages.add("docs/index.md")}, *found]}
    return result


def with_few_colours(page):
    """Keeps the colours of comments, keywords, directives, texts and numbers: those of the rest are a third of the page's bytes."""
    text = page.read_text()
    page.write_text(re.sub(r'<span class="(?:[npow]|n[a-z]|ow|err)">([^<]*)</span>', r"\1", text))


def without_indents(page):
    """Takes blank lines and indents outside code from a page of the theme."""
    text = page.read_text()
    if 'content="mkdocs' not in text:
        return
    parts = re.split(r"(<pre.*?</pre>)", text, flags=re.DOTALL)
    page.write_text("".join(part if part.startswith("<pre") else re.sub(r"\n\s+", "\n", part) for part in parts))


def without_sources(index, listed):
    """Takes pages of sources, but those of the navigation, and lists of folders from the search."""
    found = json.loads(index.read_text())
    found["docs"] = [each for each in found["docs"] if re.sub(r"\.html(#.*)?$", "", each["location"]) in listed
                     or not re.search(r"\.\w+\.html|^(tests|include|benchmarks)/", each["location"])]
    index.write_text(json.dumps(found, separators=(",", ":")))


def build(into, reports):
    work = into.with_name(into.name + "-pages")
    shutil.rmtree(work, ignore_errors=True)
    folder = work / "pages"
    pages = Pages(folder, reports)
    for path in FIRST:
        pages.add(path)
    tree = navigation_of(pages)
    pages.write_all()
    (folder / "site").mkdir(parents=True)
    for name in ("style.css", "copy.js", "tiles.svg"):
        shutil.copyfile(SITE / name, folder / "site" / name)
    config = work / "mkdocs.yml"
    config.write_text(json.dumps({"INHERIT": str(SITE / "mkdocs.yml"), "docs_dir": str(folder), "site_dir": str(into),
                                  "nav": tree, "theme": {"custom_dir": str(SITE / "theme")}}))
    run = subprocess.run(["mkdocs", "build", "--strict", "--config-file", config], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    if run.returncode:
        sys.exit("\n".join(line for line in run.stdout.splitlines() if not line.startswith(("INFO", "  - "))))
    for page in into.rglob("*.html"):
        without_indents(page)
    for path, page in pages.done.items():
        is_source = not path.endswith(".md") and (PROJECT / path).is_file()
        if page.endswith(".md") and (is_source or path.startswith("docs/generated/")):
            with_few_colours(into / f"{page.removesuffix('.md')}.html")
    without_sources(into / "search" / "search_index.json", pages.listed)
    shutil.rmtree(into / "assets" / "javascripts" / "lunr", ignore_errors=True)  # for languages that are not English
    for path in into.glob("assets/**/*.map"):  # for who works on the theme
        path.unlink()


def serve(folder, port):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/")
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=PROJECT / "build" / "site", help="the site's folder, which is made anew")
    parser.add_argument("--reports", type=Path, default=PROJECT / "build" / "reports", help="where reports are that pages show")
    parser.add_argument("--serve", type=int, nargs="?", const=8000, metavar="PORT", help="then serve it, for this machine only")
    arguments = parser.parse_args()
    if not shutil.which("mkdocs"):
        sys.exit("mkdocs: a program of that name expected (Debian: apt-get install mkdocs mkdocs-material)")
    build(arguments.into.resolve(), arguments.reports.resolve())
    size = sum(path.stat().st_size for path in arguments.into.rglob("*") if path.is_file())
    print(f"{arguments.into}/index.html: {size / 1e6:.1f} MB")
    if arguments.serve is not None:
        serve(arguments.into, arguments.serve)


if __name__ == "__main__":
    main()
