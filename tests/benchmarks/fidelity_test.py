#!/usr/bin/env python3
"""Tests the tables and the plot that benchmarks/fidelity.py makes, of made-up rows. Nothing is planned."""

import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import fidelity  # noqa: E402


def point(m, n, measured, modelled, missing=0.0, **terms):
    return {"m": m, "n": n, "measured": measured, "modelled": modelled, "missing_cycles": missing, "terms": terms}


PRODUCTS = [{"row": 2, "what": "halves", "source": "a page",
             "points": [point(1024, 4, 10, 10.5), point(1024, 64, 100, 80, -30, a=50)]},
            {"row": 3, "what": "singles", "source": "a page",
             "points": [point(1024, 4, 20, 23, 20, a=10, b=100), point(8192, 4, 8, 8), point(8192, 16, 16, 32, 5, a=1)]}]
FIGURES = {"row": 4, "what": "a triad", "source": "a book", "configuration": "one chip", "how": "a formula", "missing": "a bank",
           "figures": [{"key": "rate", "unit": "TB/s", "measured": 46.55, "modelled": 45.864, "detail": "slow: 15.5"},
                       {"key": "C++", "unit": "TB/s", "measured": 3.0, "modelled": 0, "detail": ""},
                       {"key": "small", "unit": "fits", "measured": 0, "modelled": 1, "detail": ""}]}


class FidelityTest(unittest.TestCase):
    def test_figures(self):
        self.assertEqual(fidelity.table_of_figures([PRODUCTS[0], FIGURES]).splitlines(), [
            "| row | figure | measured | modelled | error | source |",
            "| ---: | --- | ---: | ---: | ---: | --- |",
            "| 2 | halves: 2 points | below | below | mean 12.5 %, worst 20 % (bounds 6 and 20 %) | a page |",
            "| 4 | a triad: rate | 46.55 TB/s | 45.9 | -1.5 % | a book |",
            "| 4 | a triad: C++ | 3 TB/s | none | | a book |",
            "| 4 | a triad: small | no | yes | | a book |"])

    def test_notable(self):
        """Points within 10 % are not listed; a term is named if the missing cycles are at most half of it."""
        self.assertEqual(fidelity.table_of_notable(PRODUCTS).splitlines()[2:], [
            "| float16 | 1,024 x 64 | 100 | 80 | -20.0 % | -30 | no single term: a is the largest, with 50 cycles |",
            "| float32 | 1,024 x 4 | 20 | 23 | +15.0 % | 20 | b: 100 cycles, +20 % needed |",
            "| float32 | 8,192 x 16 | 16 | 32 | +100.0 % | 5 | no single term: a is the largest, with 1 cycles |"])

    def test_points(self):
        self.assertEqual(fidelity.table_of_points(PRODUCTS[1]).splitlines()[2:], [
            "| 1,024 | 20.0 / 23.0 (+15 %) | |", "| 8,192 | 8.0 / 8.0 (0 %) | 16.0 / 32.0 (+100 %) |"])
        self.assertIn("changes by 0 % in the model, and by +100 % in", fidelity.few_rows(
            [{"row": 3, "points": [point(8192, 4, 8, 8), point(8192, 16, 16, 32)]}]))

    def test_notes(self):
        self.assertEqual(" ".join(fidelity.notes([FIGURES, {"row": 8, "unused": "held back"}])),
                         "- **4, a triad** (one chip). Computed: a formula.   Differs: a bank.   Rate: slow: 15.5.")

    def test_plot(self):
        """Each point has a marker and a bar; points beyond the bound of 10 % have a label."""
        root = xml.fromstring(fidelity.plot(PRODUCTS, 0.027))
        texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(sum(" x " in text for text in texts), 3)
        circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
        self.assertEqual(len(circles), 2 + 1)  # and one in the legend

    def test_places(self):
        """Labels avoid what is taken."""
        first = fidelity.free_place(100, 100, 50, [])
        second = fidelity.free_place(100, 100, 50, [first])
        self.assertEqual(first[:2], (109, 92))
        self.assertLess(second[2], 100)

    def test_lines(self):
        self.assertTrue(all(len(line) <= fidelity.COLUMNS for line in fidelity.wrap_paragraphs(fidelity.ASSUMED).splitlines()))


if __name__ == "__main__":
    unittest.main()
