"""What a site must be: checks of its pages in a headless Chromium, which reaches no host but this one."""

import functools
import html.parser
import http.server
import json
import re
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
from devtools import Browser  # noqa: E402

MOST_BYTES = 20_000_000
# Of a page, as the browser has it: where its links lead, tags that HTML has not, blocks of code and buttons that copy them, pictures
# that are not there, and how far it is wider than the window.
FACTS = """({
  links: [...document.querySelectorAll('a[href], area[href]')].map(each => each.href),
  unknown: [...document.querySelectorAll('*')].filter(each => each instanceof HTMLUnknownElement).map(each => each.localName),
  code: document.querySelectorAll('article .highlight pre').length,
  buttons: document.querySelectorAll('article .highlight .md-clipboard, article .highlight .md-code__button').length,
  pictures: [...document.images].filter(each => !each.naturalWidth).map(each => each.src),
  wider: document.documentElement.scrollWidth - innerWidth,
  frames: [...document.querySelectorAll('iframe')].map(each => each.contentDocument && each.contentDocument.title),
})"""
THEME = "getComputedStyle(document.body).getPropertyValue('color-scheme') + ' ' + document.body.dataset.mdColorScheme"


class Server:
    """Serves a folder to this machine."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    def __init__(self, folder):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(self.Handler, directory=str(folder)))
        self.root = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def browser(executable):
    return Browser(executable, more_options=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])


class Anchors(html.parser.HTMLParser):
    """The anchors of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.found |= {values["id"]} if values.get("id") else set()
        self.found |= {values["name"]} if tag == "a" and values.get("name") else set()


class Site:
    """A folder that is served, and what was found wrong with it, a line each."""

    def __init__(self, folder, root, browser):
        self.folder, self.root, self.browser, self.problems = folder, root, browser, []
        self.anchors = functools.lru_cache(maxsize=None)(lambda page: Anchors(page).found)

    def pages(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.html"))

    def wrong(self, page, problem):
        if (line := f"{page}: {problem}") not in self.problems:
            self.problems.append(line)

    def check_size(self):
        size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        if size >= MOST_BYTES:
            self.problems.append(f"the site has {size} bytes: less than {MOST_BYTES} expected")

    def note_errors(self, page):
        for error in self.browser.errors:
            self.wrong(page, error)
        for request in self.browser.requests:
            if not request.startswith((self.root, "blob:")):
                self.wrong(page, f"asks for {request}")

    def check_link(self, page, link):
        address = urlsplit(link)
        if not link.startswith(self.root):
            if address.scheme not in ("http", "https", "mailto"):
                self.wrong(page, f"links to {link}")
            return
        target = self.folder / unquote(address.path).lstrip("/")
        if target.is_dir():
            target = target / "index.html"
        if not target.is_file():
            self.wrong(page, f"links to {unquote(address.path)[1:]}, which is not there")
        elif address.fragment and target.suffix == ".html" and unquote(address.fragment) not in self.anchors(target):
            if not (target.parent.name == "reports"):  # its script makes the anchors
                self.wrong(page, f"links to {unquote(address.path)[1:]}, which has no #{unquote(address.fragment)}")

    def check_page(self, page):
        self.browser.open(self.root + page, width=400, height=900)
        facts = self.browser.run(FACTS)
        for link in dict.fromkeys(facts["links"]):
            self.check_link(page, link)
        for tag in dict.fromkeys(facts["unknown"]):
            self.wrong(page, f"has a tag <{tag}>")
        for picture in facts["pictures"]:
            self.wrong(page, f"shows {picture}, which is no picture")
        if facts["code"] > facts["buttons"]:
            self.wrong(page, f"has {facts['code']} blocks of code, {facts['buttons']} with a button that copies them")
        if facts["wider"] > 0 and not page.startswith("reports/"):  # the report has tests of its own
            self.wrong(page, f"is {facts['wider']} pixels wider than a window of 400")
        if "" in facts["frames"] or None in facts["frames"]:
            self.wrong(page, "has a frame without a page")
        self.note_errors(page)

    def wait_for(self, expression, seconds=30):
        """The value of an expression when it is true; its last value after that time."""
        deadline = time.monotonic() + seconds
        while not (value := self.browser.run(expression)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return value

    def check_search(self, words, expected):
        """The search finds a place among the first that it shows."""
        self.browser.open(self.root + "index.html")
        self.browser.run(f"""(() => {{ const input = document.querySelector('.md-search__input'); input.focus();
                             input.value = {json.dumps(words)}; input.dispatchEvent(new KeyboardEvent('keyup', {{bubbles: true}}));
                             input.dispatchEvent(new Event('input', {{bubbles: true}})); }})()""")
        links = self.wait_for("(found => found.length && found)([...document.querySelectorAll('.md-search-result__link')]"
                              ".map(each => each.href))") or []
        links = [re.sub(r"\?[^#]*", "", link).removeprefix(self.root) for link in links]
        if expected not in links[:8]:
            self.wrong("search", f"{words} finds {', '.join(links[:8]) or 'nothing'}: {expected} expected")
        self.note_errors("search")

    def check_switch(self):
        """Light or dark as the system has it; the switch changes it."""
        for dark, first, second in ((True, "slate", "default"), (False, "default", "slate")):
            self.browser.open(self.root + "index.html", dark=dark)
            self.browser.run("localStorage.clear()")
            self.browser.open(self.root + "docs/index.html", dark=dark)
            scheme = self.wait_for(f"(scheme => scheme == '{first}' && scheme)(document.body.dataset.mdColorScheme)", 5)
            if scheme != first:
                self.wrong("switch", f"a {'dark' if dark else 'light'} system gives {self.browser.run(THEME)}: {first} expected")
            self.browser.run("[...document.querySelectorAll('[data-md-component=palette] label')].find(each => !each.hidden).click()")
            if not self.wait_for(f"document.body.dataset.mdColorScheme == '{second}'", 5):
                self.wrong("switch", f"gives {self.browser.run(THEME)}: {second} expected")
        self.browser.run("localStorage.clear()")
