#!/usr/bin/env python3
"""Tests the tables that benchmarks/suite.py prints, of made-up rows. Nothing is measured."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import suite  # noqa: E402

ROWS = [suite.Row("W7 GPT", "1 thread", 34.94, "it/s", "bound: 6 GFLOP at 230 GFLOP/s", 58.2, 0.6),
        suite.Row("W7 GPT", "1 thread", 34.94, "it/s", "PyTorch", 16.2, 34.94 / 16.2),
        suite.Row("W7 GPT", "1 thread", 34.94, "it/s", "PyTorch 2.6.0, torch.compile", 20.2, 34.94 / 20.2),
        suite.Row("W7 GPT", "1 thread", 34.94, "it/s", "float16", 35.0, 34.94 / 35),
        suite.Row("W7 GPT", "auto: 2 threads", 60.0, "it/s", "PyTorch, 2 threads", 30.0, 2.0),
        suite.Row("W7 GPT: peak memory", "1 thread", 50.0, "MB", "PyTorch", 400.0, 8.0),
        suite.Row("W5 CNN", "1 thread", 201.4, "it/s", "oneDNN", 194.0, 201.4 / 194)]


class SuiteTest(unittest.TestCase):
    def test_wide(self):
        self.assertEqual(suite.wide_table(ROWS).splitlines(), [
            "| work | tilewright | share of the bound | PyTorch | PyTorch 2.6.0, torch.compile | oneDNN | ratio to the fastest |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            "| W7 GPT | 34.9 | 0.60 | 16.2 | 20.2 |  | 1.73 |",
            "| W5 CNN | 201 |  |  |  | 194 | 1.04 |"])

    def test_all_rows(self):
        lines = suite.table(ROWS).splitlines()
        self.assertEqual(len(lines), 2 + len(ROWS))
        self.assertEqual(lines[6], "| W7 GPT | auto: 2 threads | 60 it/s | PyTorch, 2 threads | 30 it/s | 2.00 |")


if __name__ == "__main__":
    unittest.main()
