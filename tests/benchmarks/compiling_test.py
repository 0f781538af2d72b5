#!/usr/bin/env python3
"""Tests what benchmarks/compiling.py reads from the reports of compilers. Nothing is compiled."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import compiling  # noqa: E402

REPORT = """
Time variable                                   usr           sys          wall           GGC
 phase parsing                      :   7.78 ( 24%)   2.88 ( 54%)  31.91 ( 25%)   759M ( 42%)
 phase opt and generate             :  15.00 ( 46%)   0.50 ( 10%)  20.00 ( 16%)  2048k (  0%)
 |name lookup                       :   1.70 (  5%)   0.57 ( 11%)   7.26 (  6%)    30M (  2%)
 garbage collection                 :   4.21 ( 13%)   0.00 (  0%)  15.15 ( 12%)     0  (  0%)
 tree VRP                           :   0.24 (  1%)   0.01 (  0%)   0.88 (  1%)  5759k (  0%)
 TOTAL                              :  32.00          5.00        100.00         1800M
"""


def span(name, start, duration, detail=""):
    return {"ph": "X", "name": name, "ts": start, "dur": duration, "args": {"detail": detail}}


def header(phase, time, name="a.hpp"):
    return {"ph": phase, "name": "Source", "ts": time, "args": {"detail": f"/usr/include/{name}"}}


TRACE = {"traceEvents": [
    span("Frontend", 0, 8_000_000), span("Backend", 8_000_000, 3_000_000), span("Optimizer", 8_000_000, 2_000_000),
    span("InstantiateClass", 1_000_000, 2_000_000, "List<int>"), span("InstantiateFunction", 1_500_000, 500_000, "grow<int>"),
    span("InstantiateClass", 4_000_000, 1_000_000, "List<double>"), span("EvaluateAsInitializer", 1_600_000, 100_000),
    span("Total Frontend", 0, 8_000_000),
    header("b", 0), header("b", 1_000_000, "b.hpp"), header("e", 3_500_000, "b.hpp"), header("e", 6_000_000)]}


class CompilingTest(unittest.TestCase):
    def test_options(self):
        self.assertEqual(compiling.as_users(["g++", "-O3", "--param=a=1", "--param=b=2", "-Wall", "--param=a=3", "-O2"]),
                         ["g++", "-O3", "--param=a=1", "--param=b=2", "-Wall", "-O2"])

    def test_gcc(self):
        phases, within = compiling.gcc_rows(REPORT)
        self.assertEqual([row[0] for row in phases], ["reading headers and source", "optimising and generating"])
        for row, expected in zip(phases, [(10.66, 759), (15.5, 2.048)]):
            self.assertAlmostEqual(row[1], expected[0])
            self.assertAlmostEqual(row[2], expected[1])
        self.assertEqual([(what, round(time, 2), size) for what, time, size in within],
                         [("looking up names", 2.27, 30), ("collecting garbage", 4.21, 0)])

    def test_clang(self):
        phases, templates, headers = compiling.clang_rows(TRACE, 5)
        self.assertEqual([row[1] for row in phases], [8, 3, 0.1, 2, 1])
        self.assertEqual(templates, [("List", 3)])  # the function is within a class
        self.assertEqual(headers, [("a.hpp", 3.5), ("b.hpp", 2.5)])


if __name__ == "__main__":
    unittest.main()
