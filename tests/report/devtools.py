"""A headless Chromium, driven over the pipe of the DevTools protocol, with the standard library only."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(Exception):
    pass


def find_chromium():
    """The path of a Chromium, or None."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


class Browser:
    """One page. Messages of the console at level error, and exceptions, are in `errors`; network requests beside files in
    `requests`."""

    def __init__(self, executable, timeout=60, more_options=()):
        self.timeout, self.errors, self.requests = timeout, [], []
        self.profile = tempfile.mkdtemp(prefix="tilewright-chromium-")
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        self.output, self.input = ours_out, ours_in
        self.buffer, self.number, self.session = b"", 0, None
        options = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                   "--force-color-profile=srgb", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", *more_options]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # root has no sandbox

        def redirect():  # the browser reads descriptor 3 and writes 4
            reader, writer = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reader, 3)
            os.dup2(writer, 4)

        self.process = subprocess.Popen([executable, *options, "about:blank"], preexec_fn=redirect, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for descriptor in (self.output, self.input):
            try:
                os.close(descriptor)
            except OSError:
                pass
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise BrowserError("Chromium does not answer")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise BrowserError("Chromium has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        self._note(message)
        return message

    def _note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(each.get("value", each.get("description"))) for each in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.errors.append(" ".join(filter(None, (values["entry"]["text"], values["entry"].get("url")))))
        elif method == "Network.requestWillBeSent":
            url = values["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.requests.append(url)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        deadline = time.monotonic() + self.timeout
        while (answer := self._receive(deadline)).get("id") != self.number:
            pass
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url, width=1440, height=900, dark=False):
        self.errors, self.requests = [], []
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + self.timeout
        while self.run(f"document.readyState === 'complete' && location.href === {json.dumps(url)}") is not True:
            if time.monotonic() > deadline:
                raise BrowserError(f"{url} does not load")
            time.sleep(0.02)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def run(self, expression):
        """The value of a JavaScript expression, as JSON has it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def frame(self):
        """Waits until what has changed is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def screenshot(self, path, whole=True):
        self.frame()
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **({"clip": {
            **self.run("({x: 0, y: 0, width: innerWidth, height: document.documentElement.scrollHeight})"), "scale": 1}}
            if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
