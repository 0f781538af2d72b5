"""What a site must be: checks of its pages in a headless Chromium, which reaches no host but this one."""

import functools
import html.parser
import http.server
import re
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
import checks  # noqa: E402
from devtools import Browser  # noqa: E402

MOST_BYTES = 20_000_000
# Of a page, as the browser has it: tags that HTML has not, pictures that are not there, what the window's edge cuts and nothing
# scrolls, how far the page is wider than the window, and the titles of frames.
FACTS = """({
  unknown: [...document.querySelectorAll('*')].filter(each => each instanceof HTMLUnknownElement).map(each => each.localName),
  pictures: [...document.images].filter(each => !each.naturalWidth).map(each => each.src),
  cut: [...document.querySelectorAll('article *')].filter(each => each.getBoundingClientRect().right > WIDTH + 1)
       .filter(each => {
         for (; each.localName != 'article'; each = each.parentElement)
           if (getComputedStyle(each).overflowX != 'visible') return false;
         return true; }).map(each => each.localName + ' ' + each.textContent.trim().slice(0, 40)),
  wider: document.documentElement.scrollWidth - WIDTH,
  frames: [...document.querySelectorAll('iframe')].map(each => each.contentDocument && each.contentDocument.title),
})"""
WIDTH = 390  # pixels: a telephone, whose browsers make the window as wide as the page
FIRST_CODE = "document.querySelector('article .highlight pre')"
THEME = "getComputedStyle(document.body).getPropertyValue('color-scheme') + ' ' + document.body.dataset.mdColorScheme"


class Server:
    """Serves a folder to this machine."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def end_headers(self):
            if self.path.endswith((".html", ".json")):  # a fault may be planted
                self.send_header("Cache-Control", "no-store")
            super().end_headers()

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):  # a browser that leaves a page before it has all of it
            pass

    def __init__(self, folder):
        self.server = self.Quiet(("127.0.0.1", 0), functools.partial(self.Handler, directory=str(folder)))
        self.root = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def browser(executable):
    return Browser(executable, more_options=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])


class Page(html.parser.HTMLParser):
    """What a page's text says: its anchors, its links, and what a browser loads with it."""

    LOADED = ("stylesheet", "icon", "preload", "prefetch", "manifest", "modulepreload", "preconnect", "dns-prefetch")

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = {name: value for name, value in attributes if value}
        self.anchors |= {values[name] for name in ("id", *(["name"] if tag == "a" else [])) if name in values}
        if tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and set(values.get("rel", "").split()) & set(self.LOADED):
            self.loaded.append(values["href"])
        self.loaded += [values["src"]] if "src" in values else []


class Site:
    """A folder that is served, and what was found wrong with it, a line each."""

    def __init__(self, folder, root, browser):
        self.folder, self.root, self.browser, self.problems = folder, root, browser, []
        self.page = functools.lru_cache(maxsize=None)(Page)

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

    def check_address(self, page, address, is_loaded=False):
        """What a page links to or loads is there."""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            if is_loaded and parts.scheme not in ("data", "about"):
                self.wrong(page, f"loads {address}")
            elif not is_loaded and parts.scheme not in ("http", "https", "mailto"):
                self.wrong(page, f"links to {address}")
            return
        path = unquote(parts.path)
        start = self.folder if path.startswith("/") else (self.folder / page).parent
        target = (start / path.lstrip("/")).resolve() if path else self.folder / page
        if target.is_dir():
            target = target / "index.html"
        if not target.is_file():
            self.wrong(page, f"links to {address}, which is not there")
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in self.page(target).anchors:
            self.wrong(page, f"links to {address}, which has no such anchor")

    def check_text(self, page):
        text = Page(self.folder / page)
        for link in dict.fromkeys(text.links):
            self.check_address(page, link)
        for address in dict.fromkeys(text.loaded):
            self.check_address(page, address, is_loaded=True)

    def check_in_browser(self, page):
        self.browser.open(self.root + page, width=WIDTH, height=900)
        facts = self.browser.run(FACTS.replace("WIDTH", str(WIDTH)))
        for tag in dict.fromkeys(facts["unknown"]):
            self.wrong(page, f"has a tag <{tag}>")
        for picture in facts["pictures"]:
            self.wrong(page, f"shows {picture}, which is no picture")
        for cut in facts["cut"][:3]:
            self.wrong(page, f"a window of {WIDTH} pixels cuts {cut}")
        if facts["wider"] > 0 and not page.startswith("reports/"):  # the report has tests of its own
            self.wrong(page, f"is {facts['wider']} pixels wider than a window of {WIDTH}")
        if "" in facts["frames"] or None in facts["frames"]:
            self.wrong(page, "has a frame without a page")
        if self.browser.run(f"!!{FIRST_CODE}"):  # the theme makes the button when the code is in view
            self.browser.run(f"{FIRST_CODE}.scrollIntoView({{block: 'center'}})")
            if not self.wait_for(f"!!{FIRST_CODE}.parentElement.querySelector('.md-clipboard, .md-code__button')", 5):
                self.wrong(page, "has code without a button that copies it")
        self.note_errors(page)

    def wait_for(self, expression, seconds=30):
        """The value of an expression when it is true; its last value after that time."""
        deadline = time.monotonic() + seconds
        while not (value := self.browser.run(expression)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return value

    def check_frame(self, page, name):
        """A page has another one that trains in it."""
        self.browser.open(self.root + page)
        button = f"document.querySelector('iframe[src$=\"/{name}.html\"]')?.contentDocument?.getElementById('run')"
        if not self.wait_for(f"{button} && !{button}.disabled", 20):
            self.wrong(page, f"shows no {name} that trains")
            return
        if page == "index.html" and self.browser.run("document.querySelector('iframe').getBoundingClientRect().top > innerHeight - 100"):
            self.wrong(page, f"shows {name} below its first screen")
        self.browser.run(f"{button}.click()")
        if not self.wait_for(f"{button}.ownerDocument.getElementById('steps').textContent != '0'", 20):
            self.wrong(page, f"shows {name}, which does not train")

    def check_search(self, words, expected):
        """The search finds a place among the first that it shows."""
        self.browser.open(self.root + "index.html")
        self.browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.browser.run("document.querySelector('.md-search__input').focus()")
        self.browser.call("Input.insertText", text=words)
        links = self.wait_for("(found => found.length && found)([...document.querySelectorAll('.md-search-result__link')]"
                              ".map(each => each.href))") or []
        links = [re.sub(r"\?[^#]*", "", link).removeprefix(self.root) for link in links]
        if expected not in links[:8]:
            self.wrong("search", f"{words} finds {', '.join(links[:8]) or 'nothing'}: {expected} expected")
        self.note_errors("search")

    def check_code_fits(self, page, width):
        """Fails if code of a page is wider than its column; `width`: of the window, in pixels."""
        self.browser.open(self.root + page, width=width, height=900)
        wider = self.browser.run("[...document.querySelectorAll('article pre code')].map(each => each.scrollWidth - each.clientWidth)")
        if max(wider, default=1) > 0:
            self.wrong(page, f"has code that is {max(wider, default=0)} pixels wider than its column in a window of {width}")

    def check_contrast(self, page, dark):
        """Texts have the contrast that those of the report must have, but for what shows only when it is chosen."""
        self.show(page, dark)
        time.sleep(0.5)  # colours change slowly
        for problem in checks.contrast(self.browser, dark):
            if "contrast 1.00" not in problem:
                self.wrong(page, f"{'dark' if dark else 'light'}: {problem}")

    def show(self, page, dark):
        """Opens a page as one who has not chosen light or dark."""
        self.browser.open(self.root + "index.html", dark=dark)
        self.browser.run("localStorage.clear()")
        self.browser.open(self.root + page, dark=dark)

    def check_copy(self, page):
        """The button of the first code tells that it has copied."""
        self.browser.open(self.root + page)
        self.browser.run(f"{FIRST_CODE}.scrollIntoView({{block: 'start'}})")
        button = f"{FIRST_CODE}.parentElement.querySelector('.md-clipboard, .md-code__button')"
        self.wait_for(f"!!{button}", 5)
        self.browser.run(f"{button}?.click()")
        if not self.wait_for("document.querySelector('.md-dialog')?.textContent.includes('Copied')", 5):
            self.wrong(page, "has a button that does not copy")

    def check_switch(self):
        """Light or dark as the system has it; the switch changes it."""
        for dark, first, second in ((True, "slate", "default"), (False, "default", "slate")):
            self.show("docs/index.html", dark)
            scheme = self.wait_for(f"(scheme => scheme == '{first}' && scheme)(document.body.dataset.mdColorScheme)", 5)
            if scheme != first:
                self.wrong("switch", f"a {'dark' if dark else 'light'} system gives {self.browser.run(THEME)}: {first} expected")
            self.browser.run("[...document.querySelectorAll('[data-md-component=palette] label')]"
                             ".find(each => !each.hidden).click()")
            if not self.wait_for(f"document.body.dataset.mdColorScheme == '{second}'", 5):
                self.wrong("switch", f"gives {self.browser.run(THEME)}: {second} expected")
        self.browser.run("localStorage.clear()")
