#!/usr/bin/env python3
"""Tests the table that benchmarks/recordings.py makes of made-up recordings."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import recordings  # noqa: E402

KINDS = ["start", "compute", "collective", "barrier", "end"]
STEPS = [{"label": "MatMul", "compute_set": 0, "parts": 4}, {"label": "Add", "compute_set": 1, "parts": 1},
         {"label": "MatMul", "compute_set": 2, "parts": 2}, {"label": "call", "compute_set": -1, "parts": 0}]


def recording(*runs, **members):
    """Of runs, each a dict with the lists of its workers: (kind, step, microseconds) one after the other, from the run's begin on. An
    event without a kind is a gap."""
    result = {"program": "test", "kinds": KINDS, "steps": STEPS, "runs": [], "events": []}
    begin = 1_000_000
    for number, run in enumerate(runs):
        longest = 0
        for worker, events in enumerate(run["workers"]):
            time = begin
            for kind, step, microseconds in events:
                end = time + round(1000 * microseconds)
                if kind:
                    result["events"].append([worker, number, step, KINDS.index(kind), time, end, 1])
                time = end
            longest = max(longest, time - begin)
        result["runs"].append({"begin": begin, "end": begin + longest, "threads": len(run["workers"]), "body": 0, "failed": False} |
                              run.get("run", {}))
        begin += longest + 1000
    return result | members


ALONE = {"workers": [[("start", -1, 0), ("compute", 0, 40), ("compute", 1, 10), ("compute", 2, 50), ("end", -1, 0)]]}
# Worker 1 is late at the first barrier by MatMul (0), on which it is longest; worker 0 at the second by Add.
TOGETHER = {"workers": [
    [("start", -1, 0), ("compute", 0, 20), ("barrier", 1, 10), ("compute", 1, 12), ("barrier", 2, 1), ("compute", 2, 25), ("end", -1, 5)],
    [("start", -1, 2), ("compute", 0, 27), ("barrier", 1, 1), ("barrier", 2, 13), ("compute", 2, 30), ("end", -1, 0)]]}


class Table(unittest.TestCase):
    def test_figures_of_one_run(self):
        figures = recordings.Figures(recording(TOGETHER), 2)
        self.assertEqual(figures.runs, 1)
        self.assertAlmostEqual(figures.run, 73)
        self.assertEqual({kind: [round(time, 6) for time in own] for kind, own in figures.compute.items()},
                         {0: [20, 27], 1: [12, 0], 2: [25, 30]})
        self.assertEqual(figures.by_worker(), [57, 57])
        self.assertEqual({kind: round(time, 6) for kind, time in figures.waiting.items()}, {0: 11, 1: 14, 2: 5})
        self.assertAlmostEqual(figures.start, 2)
        self.assertAlmostEqual(figures.rest, 0)

    def test_the_slower_half_and_other_runs_do_not_count(self):
        slow = {"workers": [[("start", -1, 0), ("compute", 0, 900), ("end", -1, 0)]]}
        failed, upload = ALONE | {"run": {"failed": True}}, ALONE | {"run": {"body": 2}}
        both = {"workers": [[("compute", 0, 1), ("end", -1, 0)], [("compute", 0, 1), ("end", -1, 0)]]}
        figures = recordings.Figures(recording(failed, slow, ALONE, upload, both, ALONE), 1)
        self.assertEqual(figures.runs, 2)
        self.assertAlmostEqual(figures.run, 100)
        with self.assertRaisesRegex(ValueError, "^test: no run of 3 threads in the recording: one expected$"):
            recordings.Figures(recording(ALONE), 3)

    def test_a_worker_may_compute_a_step_in_several_ranges(self):
        parts = {"workers": [[("compute", 0, 5), ("compute", 1, 4), ("compute", 0, 6), ("end", -1, 0)],
                             [("compute", 0, 3), (None, 0, 4), ("end", -1, 8)]]}
        figures = recordings.Figures(recording(parts), 2)
        self.assertEqual(figures.compute[0], [11, 3])
        self.assertEqual(dict(figures.waiting), {0: 8})
        self.assertAlmostEqual(figures.rest, 4)

    def test_workers_at_different_barriers(self):
        own = {"workers": [[("compute", 0, 5), ("barrier", 1, 2), ("compute", 1, 4), ("end", -1, 0)],
                           [("compute", 2, 3), ("end", -1, 8)]]}
        self.assertEqual(dict(recordings.Figures(recording(own), 2).waiting), {0: 2, 1: 0, 2: 8})

    def test_rows(self):
        rows = recordings.rows("W0", {1: recording(ALONE), 2: recording(TOGETHER)}).splitlines()
        self.assertEqual(rows, [
            "| W0 | MatMul (2) | 2 | 50 | 25 | 27.5 | 30 | 2.5 | 41.1% | 0.91 |",
            "| W0 | MatMul (0) | 4 | 40 | 20 | 23.5 | 27 | 5.5 | 39.7% | 0.85 |",
            "| W0 | Add | 1 | 10 | 0 | 6 | 12 | 7 | 17.8% | 0.83 |",
            "| W0 | start of a run |  |  |  |  |  | 1 | 1.4% |  |",
            "| W0 | **all, 1 thread: a run of 100 us, 1.00 times** |  |  | 100 | 100 | 100 | 0 | 0.0% waiting |  |",
            "| W0 | **all, 2 threads: a run of 73 us, 1.37 times** |  | 100 | 57 | 57 | 57 | 16 | 21.9% waiting | 0.88 |"])
        head = recordings.head([1, 2]).splitlines()
        self.assertIn("| alone, us | compute of 2 workers, us: least | mean | most | waiting, us | share | speed beside 1 |", head[0])
        self.assertEqual({line.count("|") for line in head + rows}, {11})

    def test_short_kinds_stand_together(self):
        steps = [{"label": f"Op{i}", "compute_set": i, "parts": 1} for i in range(4)]
        run = {"workers": [[("compute", 0, 997), ("compute", 1, 1), ("compute", 2, 1.5), ("compute", 3, 0.5), ("end", -1, 0)]]}
        rows = recordings.rows("W0", {1: recording(run, steps=steps)}).splitlines()
        self.assertEqual([row.split(" | ")[1] for row in rows[:2]], ["Op0", "3 kinds of less than 1 %"])
        self.assertEqual(rows[1], "| W0 | 3 kinds of less than 1 % |  | 3 | 3 | 3 | 3 | 0 | 0.3% |")


if __name__ == "__main__":
    unittest.main()
