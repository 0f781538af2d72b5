#!/usr/bin/env python3
"""Reports of made-up profiles and recordings: their JSON and traces, and the reports' pages in a headless Chromium.

    python3 tests/report/run.py build/gcc/tests/write_reports [--only data|page] [--pictures FOLDER]

Pages: no errors in the console and no request; totals as the JSON's figures make them; filter, switches, selections and drill-down
work; at 390 and 1,440 pixels, light and dark, nothing overflows its box or the page sideways, and every text has a contrast of at
least 4.5. Without a Chromium the pages are skipped (exit code 77). --pictures writes a picture of each.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import checks  # noqa: E402
from devtools import Browser, find_chromium  # noqa: E402

SKIPPED = 77
PHASES = ("compute", "exchange", "sync", "host", "remote", "collective", "links")
TRACKS = {"sync", "host", "remote", "collective", "links", "exchange", "compute"}
failures = []


def check(truth, message):
    if not truth:
        failures.append(message)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def no_constants(name):
    raise ValueError(f"{name} is no JSON")


def read(path):
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constants)


def cycles_of(step):
    return step["times"] * sum(step[phase] for phase in PHASES)


def check_json(name, profile):
    """The totals, computed anew from the steps and tiles; of several IPUs, from what the one does that waits least."""
    totals, steps, tiles = profile["totals"], profile["steps"], profile["tiles"]
    sets = profile["tile_sets"]
    busiest = min(sets, key=lambda each: each["waiting"]) if sets else None
    cycles = sum(busiest[phase] for phase in (*PHASES, "waiting")) if sets else sum(map(cycles_of, steps))
    check(totals["cycles"] == cycles, f"{name}: {totals['cycles']} cycles: {cycles} expected")
    check(totals["waiting"] == (busiest["waiting"] if sets else 0), f"{name}: {totals['waiting']} cycles of waiting")
    for phase in (*PHASES, "flops"):
        expected = busiest[phase] if sets and phase in PHASES else sum(step["times"] * step[phase] for step in steps)
        check(totals[phase] == expected, f"{name}: {phase} {totals[phase]}: {expected} expected")
    seconds = cycles / profile["clock_hz"]
    check(close(totals["seconds"], seconds), f"{name}: {totals['seconds']} seconds: {seconds} expected")
    if cycles:
        check(close(totals["runs_per_second"], 1 / seconds), f"{name}: {totals['runs_per_second']} runs a second")
        check(close(totals["utilisation"], totals["flops"] / seconds / profile["peak_flops"]), f"{name}: utilisation")
        assumed = sum(step["times"] * step["assumed"] for step in steps) / cycles
        check(close(totals["assumed"], assumed), f"{name}: assumed {totals['assumed']}: {assumed} expected")
    check(all(len(tile) == len(profile["categories"]) for tile in tiles), f"{name}: tiles with other categories")
    if tiles:
        fullest = max(map(sum, tiles))
        check(totals["fullest_tile_bytes"] == fullest == sum(tiles[profile["fullest_tile"]]), f"{name}: the fullest tile")
    if steps:
        check(steps[totals["peak_step"]]["live_bytes"] == max(step["live_bytes"] for step in steps), f"{name}: the peak")


def check_trace(name, trace, profiles):
    """Every cycle of every step is in one slice of its track; slices of a process follow each other."""
    events = trace["traceEvents"]
    check({event["ph"] for event in events} <= {"M", "C", "X"}, f"{name}: events of unknown phases")
    for process, profile in enumerate(profiles, 1):
        own = [event for event in events if event["pid"] == process]
        names = {event["tid"]: event["args"]["name"] for event in own if event["name"] == "thread_name"}
        check(set(names.values()) == TRACKS, f"{name}: tracks {sorted(names.values())}")
        end, cycles = 0, {}
        for event in (event for event in own if event["ph"] == "X"):
            step = profile["steps"][event["args"]["step"]]
            check(event["ts"] >= 0 and event["dur"] > 0, f"{name}: a slice of {event['dur']} at {event['ts']}")
            check(math.isclose(event["ts"], end, rel_tol=1e-9, abs_tol=1e-6), f"{name}: a gap before {event['ts']}")
            check(event["args"]["module"] == step["module"] and event["args"]["ops"] == step["label"], f"{name}: a slice's names")
            check(names[event["tid"]] == event["cat"], f"{name}: a slice of {event['cat']} in {names[event['tid']]}")
            end = event["ts"] + event["dur"]
            cycles[event["args"]["step"], event["cat"]] = event["dur"] * profile["clock_hz"] / 1e6
        for index, step in enumerate(profile["steps"]):
            for phase in PHASES:
                check(math.isclose(cycles.get((index, phase), 0), step["times"] * step[phase], rel_tol=1e-9),
                      f"{name}: step {index} has {cycles.get((index, phase), 0)} cycles of {phase}")


def check_data(folder):
    for name, count in (("transformer", 1), ("small", 1), ("pipeline", 1), ("nothing", 1), ("trained", 1), ("compared", 2), ("unlike", 2),
                        ("three", 3)):
        profiles = read(folder / f"{name}.json")
        profiles = profiles if isinstance(profiles, list) else [profiles]
        check(len(profiles) == count, f"{name}: {len(profiles)} profiles")
        for profile in profiles:
            check_json(name, profile)
        check_trace(name, read(folder / f"{name}.trace.json"), profiles)
    pipeline = read(folder / "pipeline.json")
    for index, step in enumerate(pipeline["steps"]):
        times = sum(each["times"] for each in pipeline["slices"] if each["step"] == index)
        check(times == step["times"], f"pipeline: step {index} {times} times in slices")
    small = read(folder / "small.json")
    check(small["steps"][0]["label"] == "MatMul\n\\ <b>\ufffd</b>", f"a label became {small['steps'][0]['label']!r}")
    check(len(read(folder / "transformer.json")["tiles"]) == 1472, "transformer: not 1,472 tiles")
    check_log(read(folder / "trained.json")["log"], (folder / "curves.jsonl").read_text(encoding="utf-8").splitlines())
    check_recording(read(folder / "recorded.json"))
    check_recording_trace(read(folder / "recorded.json"), read(folder / "recorded.trace.json")["traceEvents"])
    unrecorded = read(folder / "unrecorded.trace.json")["traceEvents"]
    check([event["args"]["name"] for event in unrecorded] == ["recording, without 1 run that had no room for its events", "runs"],
          f"unrecorded: {unrecorded}")


def check_log(charts, rows):
    """The figures of synthetic_logs.hpp, from the JSON of the page and from the lines beside the page of curves alone."""
    check([chart["title"] for chart in charts] == ["loss", "accuracy"], f"trained: charts {charts}")
    training, validation = charts[0]["lines"]
    check([training["name"], validation["name"]] == ["training_loss", "validation_loss"], "trained: names of lines")
    check(training["steps"] == list(range(1, 121)) and validation["steps"] == list(range(20, 121, 20)), "trained: steps")
    check(training["values"][49] is None and close(validation["values"][0], 0.375 + 2 / math.sqrt(20)), "trained: values")
    rows = [json.loads(row, parse_constant=no_constants) for row in rows]
    check([row["step"] for row in rows] == training["steps"] and rows[49] == {"step": 50, "training_loss": "inf"}, "curves: rows")


def check_recording(recording):
    """The figures of synthetic_recordings.hpp, of which some are told here again."""
    check(recording["program"] == "net <of> a test", f"recorded: program {recording['program']!r}")
    check([recording[key] for key in ("room", "left_out_runs", "left_out_events")] == [64, 2, 34], "recorded: room and left out")
    check(recording["steps"][2] == {"label": "ReduceSum \ufffd</script>", "compute_set": 1, "parts": 1},
          f"recorded: step {recording['steps'][2]}")
    check([run["threads"] for run in recording["runs"]] == [3, 2, 3], "recorded: threads")
    check([run["failed"] for run in recording["runs"]] == [False, False, True], "recorded: failures")
    check(recording["events"][:3] == [[0, 0, -1, recording["kinds"].index("start"), 1000000, 1000000, 0],
                                      [0, 0, 0, recording["kinds"].index("compute"), 1000000, 1004000, 4],
                                      [0, 0, 1, recording["kinds"].index("barrier"), 1004000, 1030000, 0]],
          f"recorded: events {recording['events'][:3]}")
    ends = [event[5] for event in recording["events"] if event[3] == recording["kinds"].index("end")]
    check(sorted(ends) == sorted(run["end"] for run in recording["runs"] for _ in range(run["threads"])), f"recorded: ends {ends}")


def check_recording_trace(recording, events):
    """Every run and every event is one slice, those of a worker on its track; times are the same."""
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    check(names == {0: "runs", 1: "worker 0", 2: "worker 1", 3: "worker 2"}, f"recorded: tracks {names}")
    process = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    check(process == ["net <of> a test, without 2 runs that had no room for their events"], f"recorded: process {process}")
    expected = [(0, f"run {i}", "run", run["begin"], run["end"], {key: run[key] for key in ("threads", "body", "failed")})
                for i, run in enumerate(recording["runs"])]
    for worker, run, step, kind, begin, end, parts in recording["events"]:
        kind = recording["kinds"][kind]
        name = recording["steps"][step]["label"] if kind == "compute" else f"wait: {kind}"
        expected.append((worker + 1, name, kind, begin, end, {"run": run, "step": step, "parts": parts}))
    slices = [(event["tid"], event["name"], event["cat"], round(event["ts"] * 1e3), round((event["ts"] + event["dur"]) * 1e3),
               event["args"]) for event in events if event["ph"] == "X"]
    check(slices == expected, "recorded: slices that are not the runs and events")
    check(len(events) == len(slices) + len(names) + 1, "recorded: events of unknown phases")


def check_pages(browser, folder, pictures):
    for name in ("transformer", "compared", "three", "small", "pipeline", "nothing", "unlike", "trained", "curves"):
        url = (folder / f"{name}.html").resolve().as_uri()
        for width, dark in ((1440, False), (390, True), (1440, True), (390, False)):
            if name in ("nothing", "unlike", "three") and dark:
                continue
            where = f"{name} at {width} pixels, {'dark' if dark else 'light'}"
            browser.open(url, width=width, dark=dark)
            failures.extend(f"{where}: {problem}" for problem in checks.layout(browser))
            failures.extend(f"{where}: {problem}" for problem in checks.contrast(browser, dark))
            if pictures:
                browser.screenshot(pictures / f"{name}-{width}-{'dark' if dark else 'light'}.png")
            failures.extend(f"{where}: {error}" for error in browser.errors)
            failures.extend(f"{where}: asks for {request}" for request in browser.requests)
    for name in ("transformer", "small"):
        browser.open((folder / f"{name}.html").resolve().as_uri())
        failures.extend(f"{name}: {problem}" for problem in checks.figures(browser, read(folder / f"{name}.json")))
    browser.open((folder / "transformer.html").resolve().as_uri())
    failures.extend(f"transformer: {problem}" for problem in checks.behaviour(browser, read(folder / "transformer.json")))
    failures.extend(f"transformer, in use: {error}" for error in browser.errors)
    for name in ("compared", "three"):
        browser.open((folder / f"{name}.html").resolve().as_uri())
        failures.extend(f"{name}: {problem}" for problem in checks.differences(browser, read(folder / f"{name}.json")))
        failures.extend(f"{name}, in use: {error}" for error in browser.errors)
    browser.open((folder / "trained.html").resolve().as_uri())
    failures.extend(f"trained: {problem}" for problem in checks.curves(browser))
    failures.extend(f"trained, in use: {error}" for error in browser.errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writer", type=Path, help="the program write_reports")
    parser.add_argument("--only", choices=["data", "page"])
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the pages")
    arguments = parser.parse_args()
    chromium = find_chromium()
    if arguments.only == "page" and not chromium:
        print("skipped: no Chromium here (Debian: apt-get install chromium)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([arguments.writer, folder], check=True)
        if arguments.only != "page":
            check_data(folder)
        if arguments.only != "data" and chromium:
            if arguments.pictures:
                arguments.pictures.mkdir(parents=True, exist_ok=True)
            with Browser(chromium) as browser:
                check_pages(browser, folder, arguments.pictures)
    print("\n".join(failures[:60]) or "the reports are what they should be")
    if len(failures) > 60:
        print(f"and {len(failures) - 60} more")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
