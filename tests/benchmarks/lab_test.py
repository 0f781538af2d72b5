#!/usr/bin/env python3
"""Tests the choices and the page of benchmarks/lab.py, of made-up plans. Nothing is planned."""

import argparse
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import lab  # noqa: E402


def figures(tiles, kib, seconds, used_kib, compute=60):
    return {"tiles": tiles, "bytes_per_tile": 1024 * kib, "exchange_bytes": 4, "barrier": 126, "seconds": seconds,
            "cycles": {"compute": compute, "exchange": 40}, "memory": {"frame": 1024 * used_kib - 10, "code": 10}}


PLANS = [figures(100, 64, 5e-3, 65), figures(100, 128, 4e-3, 128), figures(200, 64, 2e-3, 40), figures(200, 128, 2e-3, 40),
         figures(400, 64, 1e-3, 30, 30), figures(50, 512, 6e-3, 300)]
CHIPS = [lab.Chip(each) for each in PLANS]


class LabTest(unittest.TestCase):
    def test_combinations(self):
        options = argparse.Namespace(base="bow", tiles=[8, 16], memory=[256], exchange=None, barrier=[1, 2])
        self.assertEqual(lab.chips_of(options), [{"base": "bow", "tiles": tiles, "bytes_per_tile": 262144, "barrier": barrier}
                                                 for tiles in (8, 16) for barrier in (1, 2)])

    def test_numbers(self):
        self.assertEqual(lab.numbers("1,20"), [1, 20])
        for wrong in ("", "0", "-1", "1.5", "1,,2", "x"):
            with self.assertRaises(argparse.ArgumentTypeError):
                lab.numbers(wrong)

    def test_fits(self):
        self.assertEqual([chip.fits for chip in CHIPS], [False, True, True, True, True, True])

    def test_limit(self):
        self.assertEqual([CHIPS[0].limit, CHIPS[1].limit, CHIPS[4].limit],
                         ["memory: frame, 100 %", "time: compute, 60 %", "time: exchange, 57 %"])

    def test_front(self):
        """As in a comparison of all pairs."""
        def beats(a, b):
            return a.fits and a.bytes <= b.bytes and a.seconds <= b.seconds and (a.bytes, a.seconds) != (b.bytes, b.seconds)

        expected = {(chip.bytes, chip.seconds) for chip in CHIPS if chip.fits and not any(beats(other, chip) for other in CHIPS)}
        self.assertEqual({(chip.bytes, chip.seconds) for chip in lab.front(CHIPS)}, expected)
        self.assertEqual([chip.tiles for chip in lab.front(CHIPS)], [200, 400])

    def test_choices(self):
        self.assertIs(lab.fewest_tiles(CHIPS), CHIPS[5])
        self.assertIs(lab.least_memory(CHIPS, 4e-3), CHIPS[2])
        self.assertIs(lab.least_memory(CHIPS, 1.5e-3), CHIPS[4])
        self.assertIsNone(lab.least_memory(CHIPS, 5e-4))
        self.assertIsNone(lab.fewest_tiles(CHIPS[:1]))

    def test_answers(self):
        self.assertEqual(list(lab.answers(CHIPS, 2e-3)), [
            ("chips that fit", "5 of 6"), ("fastest", "400 tiles of 64 KiB: 1 ms"),
            ("fewest tiles, then least memory", "50 tiles of 512 KiB: 6 ms"),
            ("least memory within 2 ms", "200 tiles of 64 KiB, 12 MiB: 2 ms")])
        self.assertEqual(list(lab.answers(CHIPS[:1], None)),
                         [("chips that fit", "0 of 1"), ("closest", "100 tiles of 64 KiB: 102 % of a tile's memory needed")])

    def test_page(self):
        """A dot and a line of the table for each chip; also for a single chip, whose axes have no length."""
        for plans in (PLANS, PLANS[:1], PLANS[1:2]):
            text = lab.page("a <program>", "gc200", {"float16_error": 0.04, "float32_error": 0.07, "chips": plans}, 2e-3)
            self.assertEqual(len(re.findall("<circle", text)), len(plans))
            self.assertEqual(len(re.findall("<tr", text)), len(plans) + 1 + len(list(lab.answers([*map(lab.Chip, plans)], 2e-3))))
            self.assertIn("a &lt;program&gt;", text)
            self.assertNotIn("nan", text)

    def test_ticks(self):
        self.assertEqual(lab.ticks([9, 1100]), [10, 100, 1000])
        self.assertEqual(lab.ticks([4, 60]), [5, 10, 20, 50])


if __name__ == "__main__":
    unittest.main()
