#!/usr/bin/env python3
"""Opens the pages of examples/browser, and that of lesson 14, from disk in a headless Chromium, at two widths, dark and light. They
train without errors and requests, also by keyboard. The digits answer drawings by pointer and keyboard, and take files of MNIST. The GPT takes a text,
and writes. The networks of for_node.hpp get the same bits in Chromium as on the host."""

import argparse
import base64
import re
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
sys.path[:0] = [str(PROJECT / "tests" / "report"), str(PROJECT / "examples" / "browser")]
from devtools import Browser, BrowserError, find_chromium  # noqa: E402
from machines import EXPORT, lacks_of_wasm, run, run_library  # noqa: E402
from make_page import MODULE, write_page  # noqa: E402

EXAMPLES = PROJECT / "examples"
MOST_BYTES = 500_000
SKIPPED = 77
TEXT = "document.getElementById('{}').textContent"
SCORE, LOSS, STEPS = (f"(parseFloat({TEXT.format(name)}.replace(',', '')) || 0)" for name in ("score", "loss", "steps"))
# The element with the focus. A file's input is in a label that has the outline.
FOCUSED = """(each => each.id + (getComputedStyle(each.closest('.button') ?? each).outlineStyle === 'solid' ? '' : ' without outline'))(
  document.activeElement)"""
PASTE = """(() => { const text = document.getElementById('text'); text.focus(), text.select();
  document.execCommand('insertText', false, %s); })()"""
PASTED = "".join(f"a{'b' * (i % 7 + 1)} " for i in range(400))
# Files with the headers of MNIST's: 200 images, of one half black and one half white, with labels 0 and 1.
DROP = """(async () => {
  const idx = (magic, count, side, value) => {
    const size = magic === 0x803 ? 16 : 8, of_one = side * side, bytes = new Uint8Array(size + count * of_one);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, magic), view.setUint32(4, count);
    if (magic === 0x803) view.setUint32(8, side), view.setUint32(12, side);
    for (let i = 0; i < count; ++i) bytes.fill(value(i), size + i * of_one, size + (i + 1) * of_one);
    return bytes;
  };
  const zip = async bytes => new Uint8Array(await new Response(
    new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());
  const transfer = new DataTransfer();
  for (const [name, count] of [['train', 300], ['t10k', 500]]) {
    transfer.items.add(new File([await zip(idx(0x803, count, 28, i => i % 2 ? 255 : 0))], name + '-images-idx3-ubyte.gz'));
    transfer.items.add(new File([idx(0x801, count, 1, i => i % 2)], name + '-labels-idx1-ubyte'));
  }
  document.dispatchEvent(Object.assign(new Event('drop'), {dataTransfer: transfer}));
})()"""
DROP_WRONG = """(() => { const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(9)], 'notes.txt'));
  document.dispatchEvent(Object.assign(new Event('drop'), {dataTransfer: transfer})); })()"""


class Page:
    def __init__(self, browser, problems):
        self.browser, self.problems = browser, problems

    def expect(self, what, is_right):
        if not is_right:
            self.problems.append(what)

    def wait(self, what, expression, seconds=30):
        deadline = time.monotonic() + seconds
        while not self.browser.run(expression):
            if time.monotonic() > deadline:
                self.problems.append(f"{what}: not within {seconds} s")
                return
            time.sleep(0.1)

    def click(self, button):
        self.browser.run(f"document.getElementById('{button}').click()")

    def mouse(self, kind, x, y):
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, *keys):
        for key in keys:
            code = {" ": "Space"}.get(key, key)
            more = {"Enter": {"text": "\r"}, "Tab": {"windowsVirtualKeyCode": 9}}.get(key, {})
            for kind in ("keyDown", "keyUp"):
                self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, **more)

    def check_training(self, what, is_done):
        """Trains until an expression is true, and pauses."""
        self.wait("the buttons are ready", "!document.getElementById('run').disabled")
        self.click("run")
        self.wait(what, is_done, 120)
        self.click("run")
        self.expect("a pause", self.browser.run(TEXT.format("run")) == "Train")
        self.wait("a pause ends the steps", f"new Promise(done => {{ const steps = {STEPS}; "
                                            f"setTimeout(() => done(steps === {STEPS}), 400); }})")

    def check_tab(self):
        """Tab reaches all that can be used, which then has an outline; Enter trains and pauses."""
        ids = self.browser.run("[...document.querySelectorAll('button, input, textarea, [tabindex]')].map(each => each.id)")
        self.browser.run("document.activeElement.blur()")
        reached = []
        for _ in ids:
            self.press("Tab")
            reached.append(self.browser.run(FOCUSED))
        self.expect(f"Tab reaches {', '.join(reached)}: {', '.join(ids)} expected", set(reached) == set(ids))
        self.browser.run("document.getElementById('run').focus()")
        for text in ("Pause", "Train"):
            self.press("Enter")
            self.expect(f"after Enter, {text}", self.browser.run(TEXT.format("run")) == text)

    def check_width(self, width):
        self.browser.resize(width, 900)
        self.browser.frame()
        self.expect(f"{width} pixels: nothing is cut", self.browser.run("document.documentElement.scrollWidth") <= width)

    def check_more(self):
        pass


class Digits(Page):
    source = EXAMPLES / "browser" / "digits" / "digits.hpp"

    def train(self):
        self.wait("an untrained network is tested", f"{SCORE} > 0 && {SCORE} < 50")
        self.check_training("training gives 85 % right", f"{SCORE} >= 85")

    def check_more(self):
        self.check_pointer()
        self.check_keyboard()
        self.check_files()

    def check_pointer(self):
        """Draws a 1 by the mouse."""
        self.browser.run("document.getElementById('pad').scrollIntoView()")
        box = self.browser.run("(({x, y, width, height}) => ({x, y, width, height}))(document.getElementById('pad').getBoundingClientRect())")
        x = box["x"] + box["width"] / 2
        self.mouse("mousePressed", x, box["y"] + box["height"] * 0.2)
        for part in range(20, 81, 5):
            self.mouse("mouseMoved", x, box["y"] + box["height"] * part / 100)
        self.mouse("mouseReleased", x, box["y"] + box["height"] * 0.8)
        self.wait("a drawn 1 is a 1", f"{TEXT.format('answer')}.startsWith('A 1, with')")
        self.click("clear")
        self.expect("a cleared drawing has no answer", self.browser.run(TEXT.format("answer")).startswith("Draw"))

    def check_keyboard(self):
        self.browser.run("document.getElementById('pad').focus()")
        self.press(*["ArrowUp"] * 8, " ", *["ArrowDown"] * 16, " ")
        self.wait("a 1 by keys is a 1", f"{TEXT.format('answer')}.startsWith('A 1, with')")
        self.press("Delete")
        self.expect("Delete clears", self.browser.run(TEXT.format("answer")).startswith("Draw"))

    def check_files(self):
        self.browser.run(DROP_WRONG)
        self.wait("a wrong file is named", f"{TEXT.format('source')}.startsWith('notes.txt: images of 28 x 28')")
        self.browser.run(DROP)
        self.wait("files are used", f"{TEXT.format('source')} === 'The digits are those of the files.'")
        self.click("run")
        self.wait("training on files", f"{SCORE} === 100", 60)
        self.click("run")


class Gpt(Page):
    source = EXAMPLES / "browser" / "gpt" / "gpt.hpp"

    def train(self):
        self.check_training("training on the page's text", f"{LOSS} > 0 && {LOSS} < 2")

    def check_more(self):
        self.browser.run(PASTE % repr("short"))
        self.wait("a short text is refused", f"{TEXT.format('message')} === 'A text of 5 characters: more than 64 expected.'")
        self.browser.run(PASTE % repr(PASTED))
        self.wait("a text is used", f"{TEXT.format('size')} === '{len(PASTED):,} characters, of which 3 are different.'")
        self.wait("a new text starts anew", f"{STEPS} === 0")
        self.check_training("training on a pasted text", f"{LOSS} > 0 && {LOSS} < 0.5")
        self.browser.run("Object.assign(document.getElementById('prompt'), {value: 'ab'}).focus()")
        self.press("Enter")
        self.wait("it writes what it has read", f"/^ab+( ab+)+/.test({TEXT.format('written')})")


class Lesson(Page):
    source = EXAMPLES / "lessons" / "14_in_a_browser.cpp"

    def train(self):
        self.check_training("training gives 95 % right", f"{SCORE} >= 95")


def check_page(kind, browser, folder, pictures, problems):
    name = kind.source.stem
    path = folder / f"{name}.html"
    write_page(kind.source, path)
    if (size := path.stat().st_size) > MOST_BYTES:
        problems.append(f"{name}: the page has {size} bytes: at most {MOST_BYTES} expected")
    for dark in (False, True):
        found = []
        browser.open(path.as_uri(), width=1280, dark=dark)
        page = kind(browser, found)
        page.train()
        for width in (1280, 390):
            page.check_width(width)
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
                browser.screenshot(pictures / f"{name}-{width}-{'dark' if dark else 'light'}.png")
        if not dark:
            page.check_tab()
            page.check_more()
        found += [f"in the console: {error}" for error in browser.errors]
        found += [f"asks for {url}" for url in browser.requests if not url.startswith("blob:")]
        problems += [f"{name}: {problem}" for problem in found]


TRAINED = """<!doctype html><title></title><script type="module">
%s
%s
const net = await tilewright.load(Uint8Array.from(atob('%s'), character => character.charCodeAt(0)));
document.title = train(net).results.join(' ');
</script>"""


def check_bits(browser, folder, problems):
    """Trains for_node.hpp in the browser, and compares with a C library."""
    run(*EXPORT, "--wasm", folder, "--name", "net", "--flags=-O2")
    module = without_exports(folder / "net.js").replace("import.meta.url", "location.href")
    wasm = base64.b64encode((folder / "net.wasm").read_bytes()).decode()
    page = folder / "trained.html"
    page.write_text(TRAINED % (MODULE % module, without_exports(FOLDER / "trained.mjs"), wasm))
    browser.open(page.as_uri())
    Page(browser, problems).wait("a network is trained", "document.title !== ''", 60)
    found, expected = browser.run("document.title").split(), run_library(folder, "g++", "").split()
    if found[-1] != expected[-1]:
        problems.append(f"in Chromium {' '.join(found)}, where {' '.join(expected)} were expected")


def without_exports(path):
    return re.sub("^export ", "", path.read_text(), flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where pictures of the page are written")
    options = parser.parse_args()
    chromium = find_chromium()
    if lacks := lacks_of_wasm() or ("" if chromium else "Chromium"):
        print(f"skipped: without {lacks}")
        sys.exit(SKIPPED)
    problems = []
    with tempfile.TemporaryDirectory() as folder, Browser(chromium) as browser:
        check_bits(browser, Path(folder), problems)
        for kind in (Digits, Gpt, Lesson):
            check_page(kind, browser, Path(folder), options.pictures, problems)
    print("\n".join(map(str, problems)) or "the pages train, answer and write")
    sys.exit(bool(problems))


if __name__ == "__main__":
    try:
        main()
    except BrowserError as error:
        sys.exit(f"Chromium: {error}")
