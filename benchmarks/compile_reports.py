"""Reads what a compiler reports of one compilation: GCC's phases by -ftime-report, Clang's phases, owners, headers and templates by
-ftime-trace.

GCC reports seconds of processor time, and memory that it allocated, of which a part is freed again. Clang reports wall time. Both
reports slow the compilers down by some percent.
"""

import os.path
import re
from collections import Counter

# GCC's timers. The phases are all; the others lie within them, and not within each other.
GCC_PHASES = {"phase setup": "start", "phase parsing": "reading headers and source",
              "phase lang. deferred": "templates at the end", "phase opt and generate": "optimising and generating",
              "phase last asm": "writing", "phase finalize": "end"}
GCC_WITHIN = {"template instantiation": "templates", "constant expression evaluation": "constant expressions",
              "|overload resolution": "choosing overloads", "|name lookup": "looking up names",
              "garbage collection": "collecting garbage"}
GCC_LINE = re.compile(r"^ (?P<name>\S.*?)\s*:\s*(?P<user>[\d.]+) \([^)]*\)\s+(?P<system>[\d.]+) \([^)]*\)\s+[\d.]+ \([^)]*\)\s+"
                      r"(?P<memory>\d+)(?P<unit>[kMG]?) ", re.MULTILINE)
UNITS = {"": 1e-6, "k": 1e-3, "M": 1, "G": 1e3}
CLANG_CONSTANTS = ("EvaluateAs", "EvaluateForOverflow", "EvaluateWithSubstitution", "CheckConstraintSatisfaction")
TEMPLATES = "Instantiate"

# By owner, what a header's path has, and how a template's name begins; the first that fits. libstdc++ lies below lib/gcc, too.
OWNERS = {"ours": (r"/include/tilewright/", r"tilewright::"), "standard library": (r"/c\+\+/", r"(std|__gnu_cxx)::"),
          "xtensor": (r"/(xtensor|xtl)/", r"(xt|xtl)::"), "xsimd": (r"/xsimd/", r"xsimd::"),
          "Hana": (r"/boost/hana[/.]", r"boost::hana::"), "intrinsics": (r"/lib/(gcc|clang)/.*intrin[^/]*$", None)}
OTHERS = "others"  # C's headers, the source itself, its own templates, and work that belongs to no header or template


def owner_of_header(path):
    return next((owner for owner, (pattern, _) in OWNERS.items() if re.search(pattern, os.path.normpath(path))), OTHERS)


def owner_of_template(name):
    return next((owner for owner, (_, pattern) in OWNERS.items() if pattern and re.match(pattern, name)), OTHERS)


def gcc_rows(report):
    """Of the text of -ftime-report: (what, seconds of processor time, megabytes allocated) of phases, and of parts of them."""
    found = {line["name"]: (float(line["user"]) + float(line["system"]), float(line["memory"]) * UNITS[line["unit"]])
             for line in GCC_LINE.finditer(report)}
    return [[(what, *found[name]) for name, what in names.items() if name in found] for names in (GCC_PHASES, GCC_WITHIN)]


def spans(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X" and not event["name"].startswith("Total ")]


def outermost_seconds(events, *names):
    """Seconds of the events whose names begin so, and that do not lie within another such one."""
    end, total = -1, 0
    for event in sorted((event for event in events if event["name"].startswith(names)), key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= end:
            end = event["ts"] + event["dur"]
            total += event["dur"] / 1e6
    return total


def scaled(trace, seconds):
    """The trace with times so scaled that the whole compilation takes these seconds."""
    whole = sum(event["dur"] for event in spans(trace) if event["name"] == "ExecuteCompiler")
    factor = seconds * 1e6 / whole
    events = [event | {each: event[each] * factor for each in ("ts", "dur") if each in event} for event in trace["traceEvents"]]
    return {"traceEvents": events}


def clang_phases(trace):
    """Of a file of -ftime-trace: (what, seconds)."""
    events = spans(trace)
    optimising = outermost_seconds(events, "Optimizer")
    return [("reading and checking", outermost_seconds(events, "Frontend")),
            ("of it templates", outermost_seconds(events, TEMPLATES)),
            ("of it constant expressions, some in templates", outermost_seconds(events, *CLANG_CONSTANTS)),
            ("optimising", optimising), ("generating", outermost_seconds(events, "Backend") - optimising)]


def intervals(trace):
    """(start, end, kind, name) of each header and of each instantiation of a template; a template's name has no arguments."""
    result = [(event["ts"], event["ts"] + event["dur"], "template", re.sub(r"<.*", "", event["args"].get("detail", "?"), flags=re.DOTALL))
              for event in spans(trace) if event["name"].startswith(TEMPLATES)]
    begun = []
    for event in trace["traceEvents"]:  # the end of a header stands behind its begin
        if event["name"] == "Source" and event["ph"] == "b":
            begun.append(event)
        elif event["name"] == "Source" and event["ph"] == "e":
            begin = begun.pop()
            result.append((begin["ts"], event["ts"], "header", begin["args"]["detail"]))
    return result


def exclusive(events):
    """Seconds by ("header", path) and ("template", name) of such intervals. A moment counts for the one that began last."""
    edges = sorted([(start, 1, -end, index) for index, (start, end, *_) in enumerate(events) if start < end] +
                   [(end, 0, 0, index) for index, (start, end, *_) in enumerate(events) if start < end])
    result, opened, before = Counter(), [], 0
    for time, begins, _, index in edges:
        if opened:
            result[events[opened[-1]][2:]] += (time - before) / 1e6
        before = time
        opened.append(index) if begins else opened.remove(index)
    return result


def clang_owners(trace):
    """(what, own seconds), which add up to those of reading and checking, by owner; (what, own seconds, seconds with what it includes
    and instantiates) by header; (what, own seconds, instantiations) by template."""
    events = intervals(trace)
    owners, whole, times = Counter(), Counter(), Counter()
    for start, end, *key in events:
        whole[tuple(key)] += (end - start) / 1e6
        times[tuple(key)] += 1
    headers, templates = [], []
    for (kind, name), seconds in exclusive(events).items():
        if kind == "header":
            owners[owner_of_header(name)] += seconds
            headers.append((re.sub(r"^.*/include/", "", os.path.normpath(name)), seconds, whole[kind, name]))
        else:
            owners[owner_of_template(name)] += seconds
            templates.append((name, seconds, times[kind, name]))
    owners[OTHERS] += outermost_seconds(spans(trace), "Frontend") - sum(owners.values())
    return list(owners.items()), headers, templates
