#!/usr/bin/env python3
"""Opens the page of examples/browser/digits from disk in a headless Chromium: it trains, answers drawings by pointer and keyboard,
takes files of weights and of MNIST, and stays without errors and requests, at two widths, dark and light."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
sys.path.insert(0, str(PROJECT / "tests" / "report"))
from devtools import Browser, BrowserError, find_chromium  # noqa: E402
from machines import lacks_of_wasm  # noqa: E402

DIGITS = PROJECT / "examples" / "browser" / "digits"
MOST_BYTES = 500_000
SKIPPED = 77
TEXT = "document.getElementById('{}').textContent"
ACCURACY = f"(parseFloat({TEXT.format('accuracy')}) || 0)"
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
            for kind in ("keyDown", "keyUp"):
                self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=code)

    def check_training(self):
        self.wait("the buttons are ready", "!document.getElementById('run').disabled")
        self.wait("an untrained network is tested", f"{ACCURACY} > 0 && {ACCURACY} < 50")
        self.click("run")
        self.wait("training gives 85 % right", f"{ACCURACY} >= 85", 120)
        self.click("run")
        self.expect("a pause", self.browser.run(TEXT.format("run")) == "Train")
        self.wait("a pause ends the steps", f"new Promise(done => {{ const steps = {TEXT.format('steps')}; "
                                            f"setTimeout(() => done(steps === {TEXT.format('steps')}), 400); }})")

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
        self.wait("training on files", f"{ACCURACY} === 100", 60)
        self.click("run")

    def check_width(self, width):
        self.browser.resize(width, 900)
        self.browser.frame()
        self.expect(f"{width} pixels: nothing is cut", self.browser.run("document.documentElement.scrollWidth") <= width)


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
        path = Path(folder) / "digits.html"
        for command in (["cmake/export.py", DIGITS / "digits.hpp", "train_step", "test_step", "--wasm", Path(folder) / "digits", "--flags=-O3 -lm -lc"],
                        [DIGITS / "page.py", Path(folder) / "digits", path]):
            subprocess.run([sys.executable, *map(str, command)], check=True, cwd=PROJECT)
        if path.stat().st_size > MOST_BYTES:
            problems.append(f"the page has {path.stat().st_size} bytes: at most {MOST_BYTES} expected")
        page = Page(browser, problems)
        for dark in (False, True):
            browser.open(path.as_uri(), width=1280, dark=dark)
            page.check_training()
            if not dark:
                page.check_pointer()
                page.check_keyboard()
            for width in (1280, 390):
                page.check_width(width)
                if options.pictures:
                    options.pictures.mkdir(parents=True, exist_ok=True)
                    browser.screenshot(options.pictures / f"digits-{width}-{'dark' if dark else 'light'}.png")
            if not dark:
                page.check_files()
            problems += [f"in the console: {error}" for error in browser.errors]
            problems += [f"asks for {url}" for url in browser.requests if not url.startswith("blob:")]
        print("\n".join(map(str, problems)) or f"the page of {path.stat().st_size} bytes trains and answers")
    sys.exit(bool(problems))


if __name__ == "__main__":
    try:
        main()
    except BrowserError as error:
        sys.exit(f"Chromium: {error}")
