"""What the page of a recording must be: each function gives its problems as texts."""

import json

from checks import text


def nanoseconds(value):
    """As the page writes a time."""
    for unit, name in ((1e9, "s"), (1e6, "ms")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value / 1e3:.3g} µs"


def sums(recording, run):
    """Times of the workers of a run by the label of the work, or the kind of the wait."""
    found = {}
    for worker, of_run, step, kind, begin, end, _ in recording["events"]:
        if of_run == run:
            kind = recording["kinds"][kind]
            name = recording["steps"][step]["label"] if kind == "compute" else kind
            found.setdefault(name, [0] * recording["runs"][run]["threads"])[worker] += end - begin
    return found


def behaviour(browser, recording):
    """One run at a time: its table, its lanes, its buttons by keys and by clicks."""
    problems = []

    def expect(truth, what):
        if not truth:
            problems.append(what)

    def press(name):
        """As the space bar presses a button that has the focus."""
        selector = json.dumps(f"[data-button='{name}']")
        browser.run(f"document.querySelector({selector}).focus()")
        for event in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=event, key=" ", code="Space", text=" " if event == "keyDown" else "",
                         windowsVirtualKeyCode=32)
        return browser.run(f"document.activeElement === document.querySelector({selector})")

    def point(part, lane, event="pointermove"):
        browser.run("(() => { const hit = document.querySelector('#timeline .hit'), box = hit.getBoundingClientRect(); "
                    f"hit.dispatchEvent(new PointerEvent('{event}', {{clientX: box.left + box.width * {part}, "
                    f"clientY: box.top + 26 * {lane} + 13, bubbles: true}})); }})()")

    def check_run(number):
        run = recording["runs"][number]
        shown = text(browser, "#run")
        start = f"Run {number + 1} of {len(recording['runs'])}: {nanoseconds(run['end'] - run['begin'])} with {run['threads']} threads"
        expect(shown.startswith(start), f"{shown!r}: {start!r} expected")
        expect(("exception" in shown) == run["failed"], f"{shown!r}, failed: {run['failed']}")
        rows = browser.run("[...document.querySelectorAll('#steps tbody tr')].map(row => [...row.children].map(each => each.innerText.trim()))")
        whole = (run["end"] - run["begin"]) * run["threads"]
        table = {row[0]: row for row in rows}
        expected = sums(recording, number)
        for label, workers in expected.items():
            if label in ("start", "barrier", "end", "Identity"):
                continue
            row = table.get(label, [""] * 6)
            wanted = [nanoseconds(min(workers)), nanoseconds(max(workers)), nanoseconds(sum(workers) / run["threads"])]
            expect(row[2:5] == wanted, f"run {number}, {label}: {row}: {wanted} expected")
        waits = sum(expected.get("barrier", [0]))
        row = table["Waits at a barrier"]
        expect(row[4] == nanoseconds(waits / run["threads"]), f"run {number}: {row}")
        expect(abs(float(row[5].split()[0]) - 100 * waits / whole) <= 0.51, f"run {number}: {row} of {whole} ns")
        lanes = browser.run("[...document.querySelectorAll('#timeline svg text')].map(each => each.textContent).filter(each => each.startsWith('Worker'))")
        expect(lanes == [f"Worker {worker}" for worker in range(run["threads"])], f"run {number}: lanes {lanes}")

    expect(text(browser, "h1") == recording["program"], f"title {text(browser, 'h1')!r}")
    expect(text(browser, "#left-out") == "2 runs with 34 events had no room in 64 events of a worker.", f"{text(browser, '#left-out')!r}")
    expect(not browser.run("document.body.innerText.includes('NaN')"), "NaN")
    check_run(0)  # of the two that did not fail, one of median length
    point(2 / 90, 0)
    shown = text(browser, "#tip") or ""
    for part in ("MatMul [Add, Gelu]", "worker 0, step 0", "Computes 4 µs", "Vertices 4"):
        expect(part in shown, f"tooltip {shown!r} without {part!r}")
    point(20 / 90, 0)
    shown = text(browser, "#tip") or ""
    for part in ("Waits at a barrier", "before step 1", "Waits 26 µs", "Begins after 4 µs"):
        expect(part in shown, f"tooltip {shown!r} without {part!r}")
    point(60 / 90, 2)
    expect("Identity" in (text(browser, "#tip") or ""), f"tooltip of worker 2 {text(browser, '#tip')!r}")

    expect(press("The next run"), "the button of the next run loses the focus")
    check_run(1)
    press("The next run")
    check_run(2)
    expect(browser.run("document.querySelector(\"[data-button='The next run']\").disabled"), "a run after the last")
    press("The run before")
    press("The run before")
    check_run(0)

    marks = "[...document.querySelectorAll('#timeline svg text')].map(each => each.textContent).filter(each => /s$/.test(each))"
    before = browser.run(marks)
    expect(press("Enlarge"), "the button that enlarges loses the focus")
    after = browser.run(marks)
    expect(before[0] == "0 µs" and before != after and "0 µs" not in after, f"marks {before} became {after}")
    press("Earlier")
    expect("0 µs" in browser.run(marks), f"earlier: marks {browser.run(marks)}")
    press("Show the whole run")
    expect(browser.run(marks) == before, f"the whole run has marks {browser.run(marks)}")
    point(0.5, 0, "pointerdown")
    point(0.6, 0)
    point(0.6, 0, "pointerup")
    after = browser.run(marks)  # of 45 to 54 us
    expect((after[0], after[-1]) == ("46 µs", "54 µs"), f"a part that was dragged over has marks {after}")
    return problems


def nothing(browser):
    shown = text(browser, "#page")
    return [f"{shown!r} without {part!r}" for part in ("no complete run", "1 run with 3 events had no room in 1 event of a worker")
            if part not in shown]
