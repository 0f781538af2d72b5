"""Writes the table of operators, from what became of the models that have them."""

import collections
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/generated/onnx-operators.md"
HEAD = """# Operators of ONNX

`tests/onnx/run.py --all --write` writes this page. It imports the models of Debian's libonnx-testdata 1.12, compiles them, and compares
their outputs, by 1e-3 of the element and 1e-6; in half precision by 1e-2; of random numbers the shapes. One of 15 also runs in strict
mode on a simulated IPU.
Of {count} models, {summary}.

For each operator: how many models with it pass, are left out by a rule, have an operator that is missing, or fail.

| operator | passes | left out | missing | fails | why not all pass |
| --- | ---: | ---: | ---: | ---: | --- |
{rows}
"""
STATES = ("passes", "left out", "missing", "fails")


def write(tried):
    by_operator = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(set)
    for each in tried:
        state = "fails" if each.state == "faulty" else each.state
        for op in each.operators:
            by_operator[op][state] += 1
            own = {why for its, why in each.problems if its == op} if state == "missing" else {each.text} if state == "left out" else set()
            reasons[op] |= {short(why) for why in own}
    rows = [f"| {op} | {' | '.join(str(counts[state] or '') for state in STATES)} | {'; '.join(sorted(reasons[op]))} |"
            for op, counts in sorted(by_operator.items())]
    totals = collections.Counter("fails" if each.state == "faulty" else each.state for each in tried)
    words = {"passes": "pass", "left out": "are left out", "missing": "have a missing operator", "fails": "fail"}
    summary = ", ".join(f"{totals[state]} {word}" for state, word in words.items() if totals[state])
    PAGE.write_text(HEAD.format(count=len(tried), summary=summary, rows="\n".join(rows)))


def short(why):
    """A reason without what belongs to one model."""
    why = why.removesuffix(": left out")
    for start, text in (("no such operator", "no such operator"), ("reduction ", "reduction mul")):
        if why.startswith(start):
            return text
    return why.split(": ")[0] if "'" in why else why
