#!/usr/bin/env python3
"""Tests the tables and the plot that benchmarks/fidelity.py makes, of made-up rows. Nothing is planned."""

import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import fidelity  # noqa: E402


def point(m, n, measured, modelled, missing=0.0, **terms):
    return {"m": m, "n": n, "measured": measured, "modelled": modelled, "alone": measured, "missing_cycles": missing, "terms": terms}


PRODUCTS = [{"row": "2", "what": "halves", "source": "a page",
             "points": [point(1024, 4, 10, 10.5), point(1024, 64, 100, 80, -30, a=50)]},
            {"row": "3", "what": "singles", "source": "a page",
             "points": [point(1024, 4, 20, 23, 20, a=10, b=100), point(8192, 4, 8, 0), point(8192, 16, 16, 32, 5, a=1)]}]
FIGURES = {"row": "4", "what": "a triad", "source": "a book", "configuration": "one chip", "how": "a formula", "missing": "a bank",
           "bound": [0.5, 1.1],
           "figures": [{"key": "rate", "unit": "TB/s", "measured": 46.55, "modelled": 45.864, "fits": True, "detail": "slow: 15.5"},
                       {"key": "C++", "unit": "TB/s", "measured": 3.0, "modelled": 0, "fits": True, "detail": ""},
                       {"key": "big", "unit": "s", "measured": 3.0, "modelled": 0, "fits": False, "detail": ""},
                       {"key": "time", "unit": "s", "measured": 3.0, "modelled": 6, "fits": True, "detail": "",
                        "kinds": {"loops": 30, "pools": 10}},
                       {"key": "small", "unit": "fits", "measured": 0, "modelled": 1, "detail": ""}]}
RANGES = {"loops": (0.5, 2, 3), "pools": (0.9, 1.2, 1)}
KIND = {"name": "max pools", "most_mean": 0.4, "least": 0.5, "most": 1.5}
DATA = {"rows": [*PRODUCTS, FIGURES], "vendor_kinds": [KIND],
        "vendor_rows": [{"kind": 0, "name": "first", "gc2": {"vendor": 100, "modelled": 120, "share": 0.5},
                         "gc200": {"vendor": 100, "modelled": 250, "share": 0.5}},
                        {"kind": 0, "name": "second", "gc2": {"vendor": 100, "modelled": 0, "share": 1.4},
                         "gc200": {"vendor": 100, "modelled": 50, "share": 0.5}}]}


class FidelityTest(unittest.TestCase):
    def test_figures(self):
        """A range is that of the kinds, by their cycles; what does not fit has no cycles."""
        self.assertEqual(fidelity.table_of_figures([PRODUCTS[0], FIGURES], RANGES).splitlines(), [
            "| row | figure | measured | modelled | error | bound | source |",
            "| ---: | --- | ---: | ---: | ---: | ---: | --- |",
            "| 2 | halves: 2 points, 2 that fit | below | below | mean 12.5 %, worst 20 % | | a page |",
            "| 2 | halves: `partition_product` alone | below | | mean 0.0 %, worst 0 % | 6 and 20 % | a page |",
            "| 4 | a triad: rate | 46.55 TB/s | 45.9 | -1.5 % | -50 to +10 % | a book |",
            "| 4 | a triad: C++ | 3 TB/s | none | | | a book |",
            "| 4 | a triad: big | 3 s | does not fit | | | a book |",
            "| 4 | a triad: time | 3 s | 6 (3.6 to 10.8) | +100.0 % | -50 to +10 %, **beyond** | a book |",
            "| 4 | a triad: small | no | yes | | | a book |"])

    def test_kinds(self):
        lines = fidelity.table_of_kinds(DATA).splitlines()
        self.assertEqual(lines[2:4], [
            "| max pools | vendor's simulator, gc2 | 2, 1 fit | 20.0 % | +20 % | 40 % | yes |",
            "| max pools | vendor's simulator, gc200 | 2 | 100.0 % | +150 % | 40 % | **no** |"])
        self.assertIn("| products, float32 | measured, row 3 | 3, 2 fit | 57.5 % | +100 % | | |", lines)

    def test_faster_rows(self):
        self.assertTrue(fidelity.faster_rows(DATA).endswith("too fast: second (gc200)."))

    def test_ranges(self):
        ranges = fidelity.ranges_of({**DATA, "rows": [*DATA["rows"], {"row": "9", "figures": [
            {"unit": "s", "measured": 3, "modelled": 2, "fits": True}]}]})
        self.assertEqual(ranges["pools"], (0.4, 2, 3))
        self.assertEqual(ranges["loops"][2], 3)  # of a rate, which is a little too low, and of two times
        self.assertEqual(ranges["others"][2], 3 + 3 + 4)
        self.assertIn('{"pools", 0.40, 2.00}', fidelity.header_of(ranges))

    def test_notable(self):
        """Points within 10 % are not listed; a term is named if the missing cycles are at most half of it."""
        self.assertEqual(fidelity.table_of_notable(PRODUCTS).splitlines()[2:], [
            "| float16 | 1,024 x 64 | 100 | 80 | -20.0 % | -30 | no single term: a is the largest, with 50 cycles |",
            "| float32 | 1,024 x 4 | 20 | 23 | +15.0 % | 20 | b: 100 cycles, +20 % needed |",
            "| float32 | 8,192 x 16 | 16 | 32 | +100.0 % | 5 | no single term: a is the largest, with 1 cycles |"])

    def test_points(self):
        self.assertEqual(fidelity.table_of_points(PRODUCTS[1]).splitlines()[2:], [
            "| 1,024 | 20.0 / 23.0 (+15 %) | |", "| 8,192 | 8.0 / does not fit | 16.0 / 32.0 (+100 %) |"])

    def test_notes(self):
        self.assertEqual(" ".join(fidelity.notes([FIGURES, {"row": "8", "unused": "held back"}])),
                         "- **4, a triad** (one chip). Computed: a formula.   Differs: a bank.   Rate: slow: 15.5.")

    def test_plot(self):
        """Each point that fits has a marker and a bar; points that are off by more than 20 % have a label."""
        root = xml.fromstring(fidelity.plot(PRODUCTS, 0.027))
        texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(sum(" x " in text for text in texts), 1)
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
