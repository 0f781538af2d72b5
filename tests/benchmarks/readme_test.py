#!/usr/bin/env python3
"""Tests how benchmarks/readme.py reads and writes the figures of README.md. Nothing is measured."""

import sys
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "benchmarks"))
import readme  # noqa: E402

TEXT = (PROJECT / "README.md").read_text()


def program(label, threads, *rates):
    return {"program": label, "command": ["program", threads], "it/s": list(rates)}


def made_up():
    """Figures with as many numbers as the README has, of which none is there."""
    figures = {key: [(12.34 if key[0] == "accuracy" else 12345.6) + number for number in range(len(value))]
               for key, value in readme.figures_of(TEXT).items() if isinstance(key, tuple)}
    return figures | {"processor": "a Made-Up 9000", "GCC": "99.1", "PyTorch": "7.5", "oneDNN, W4": 3.25, "oneDNN, W5": 0.125}


class ReadmeTest(unittest.TestCase):
    def test_its_own_figures_change_nothing(self):
        self.assertEqual(readme.rewritten(TEXT, readme.figures_of(TEXT)), TEXT)

    def test_the_figures_that_it_has(self):
        figures = readme.figures_of(TEXT)
        for work in (*readme.WORKS, "start"):
            ours, peer = figures[work, "tilewright"], figures[work, "PyTorch"]
            self.assertEqual((len(ours), len(peer)), (1, 1) if work == "start" else (2, 2), work)
        self.assertEqual(len(figures["accuracy", "tilewright"]), 3)
        self.assertRegex(figures["GCC"], r"^\d+\.\d+$")

    def test_new_figures_are_read_again(self):
        text = readme.rewritten(TEXT, made_up())
        figures = readme.figures_of(text)
        for key, value in made_up().items():
            expected = [round(each, 2 if key[0] == "accuracy" else 0) for each in value] if isinstance(value, list) else value
            self.assertEqual(figures[key], round(expected, 2) if isinstance(value, float) else expected, key)

    def test_nothing_else_changes(self):
        text = readme.rewritten(TEXT, made_up())
        blank = [readme.NUMBER.sub("N", readme.section_of(each)[0]) for each in (TEXT, text)]
        lines = [[line for line in each.splitlines() if line.startswith("|")] for each in blank]
        self.assertEqual(*lines)
        sections = [readme.section_of(each).span() for each in (TEXT, text)]
        self.assertEqual(TEXT[:sections[0][0]], text[:sections[1][0]])
        self.assertEqual(TEXT[sections[0][1]:], text[sections[1][1]:])

    def test_missing_figures_stay(self):
        self.assertEqual(readme.rewritten(TEXT, {("W1", "PyTorch"): [], "PyTorch": ""}), TEXT)

    def test_a_wrong_number_of_figures_is_refused(self):
        with self.assertRaisesRegex(ValueError, "W1: 1 numbers expected"):
            readme.rewritten(TEXT, {("W1", "tilewright"): [1.0]})

    def test_rows_of_results(self):
        results = (PROJECT / "benchmarks/RESULTS.md").read_text()
        text = readme.with_rows(results, TEXT, ["W2", "accuracy"], "a machine", "12345678", "2026-01-31")
        new = [line for line in text.splitlines() if line not in results.splitlines()]
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in new]
        figures = readme.figures_of(TEXT)
        self.assertEqual([line[3:] for line in cells], [["a machine", "12345678", "2026-01-31"]] * 2)
        self.assertEqual([readme.numbers(cell) for cell in cells[0][1:3]], [figures["W2", "tilewright"], figures["W2", "PyTorch"]])
        self.assertEqual(readme.numbers(cells[1][1]), figures["accuracy", "tilewright"])
        self.assertEqual(text.replace("\n".join(new) + "\n", ""), results)
        self.assertEqual(len(readme.found(readme.RESULTS_TABLE, text, "")[0].splitlines()),
                         len(readme.found(readme.RESULTS_TABLE, results, "")[0].splitlines()) + 2)

    def test_long_sentences_are_wrapped(self):
        text = readme.rewritten(TEXT, {"processor": "a processor with " + " ".join(["many"] * 30) + " words"})
        lines = [line for line in readme.section_of(text)[0].splitlines() if not line.startswith("|")]
        before = readme.longest_line(readme.section_of(TEXT)[0])
        self.assertLessEqual(max(map(len, lines)), max(readme.COLUMNS, before))
        self.assertIn("many many", text)

    def test_figures_of_the_suite(self):
        raw = {"W4 encoder block": [program("1", "1", 30, 40, 50), program("2", "2", 70, 80, 90), program("auto", "auto", 1, 1, 1),
                                    program("PyTorch", "1", 10, 20, 30), program("PyTorch", "1", 20, 25, 30),
                                    program("PyTorch", "2", 50, 50, 50), program("oneDNN", "1", 32), program("oneDNN", "2", 64)],
               "W7 GPT": [], "W4 bytes": {"encoder_block": {"machine code": 1}},
               "start": {"tilewright": [0.008, 0.009, 0.1], "PyTorch": [1, 2, 3]}}
        self.assertEqual(readme.figures_of_suite(raw), {
            ("W4", "tilewright"): [40, 80], ("W4", "PyTorch"): [25, 50], "oneDNN, W4": 1.25,
            ("start", "tilewright"): [9], ("start", "PyTorch"): [2000]})


if __name__ == "__main__":
    unittest.main()
