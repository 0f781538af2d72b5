#!/usr/bin/env python3
"""Tests the choices and the page of benchmarks/lab.py, of made-up rows. Nothing is planned."""

import argparse
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import lab  # noqa: E402


def row(tiles, kib, seconds, used_kib, limit="time: compute"):
    fits = used_kib <= kib
    return {"program": "p", "machine": f"gc200 with tiles={tiles}", "base": "gc200", "tiles": tiles, "bytes_per_tile": 1024 * kib,
            "clock_hz": 1000, "fits": fits, "problem": "", "limit": limit if fits else "memory: frame", "limit_share": 0.6,
            "tile_bytes": 1024 * used_kib, "cycles": int(1000 * seconds) if fits else None, "seconds": seconds if fits else None,
            "seconds_least": 0.5 * seconds if fits else None, "seconds_most": 2 * seconds if fits else None,
            "joules": 0.25 if fits else None, "watts": 30.0, "published_watts": 300.0, "watts_by_published": 0.1,
            "joules_not_known": "read_byte idle_watts" if fits else None}


ROWS = [row(100, 64, 5e-3, 65), row(100, 128, 4e-3, 128), row(200, 64, 2e-3, 40), row(200, 128, 2e-3, 40), row(400, 64, 1e-3, 30),
        row(50, 512, 6e-3, 300)]
CHIPS = [lab.Chip(each) for each in ROWS]


class LabTest(unittest.TestCase):
    def test_knobs(self):
        options = argparse.Namespace(memory=[256, 512], exchange=None, barrier="1..9:4")
        self.assertEqual(lab.knobs_of(options), ["--bytes_per_tile", "256Ki,512Ki", "--sync_cycles", "1..9:4"])

    def test_numbers(self):
        self.assertEqual(lab.numbers("1,20"), [1, 20])
        for wrong in ("", "0", "-1", "1.5", "1,,2", "x"):
            with self.assertRaises(argparse.ArgumentTypeError):
                lab.numbers(wrong)

    def test_limit(self):
        self.assertEqual([CHIPS[0].limit, CHIPS[1].limit], ["memory: frame, 60 %", "time: compute, 60 %"])

    def test_varied(self):
        self.assertEqual(lab.varied(ROWS), ["tiles", "bytes_per_tile"])
        self.assertEqual(lab.varied([ROWS[0], {**ROWS[1], "clock_hz": 5}]), ["tiles", "bytes_per_tile", "clock_hz"])

    def test_front(self):
        """As in a comparison of all pairs."""
        def beats(a, b):
            return a.fits and a.bytes <= b.bytes and a.seconds <= b.seconds and (a.bytes, a.seconds) != (b.bytes, b.seconds)

        fitting = [chip for chip in CHIPS if chip.fits]
        expected = {(chip.bytes, chip.seconds) for chip in fitting if not any(beats(other, chip) for other in fitting)}
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
            ("chips that fit", "5 of 6"), ("fastest", "400 tiles of 64 KiB: 1 ms (500 us to 2 ms)"),
            ("fewest tiles, then least memory", "50 tiles of 512 KiB: 6 ms (3 ms to 12 ms)"),
            ("least memory within 2 ms", "200 tiles of 64 KiB, 12 MiB: 2 ms (1 ms to 4 ms)")])
        self.assertEqual(list(lab.answers(CHIPS[:1], None)),
                         [("chips that fit", "0 of 1"), ("closest", "100 tiles of 64 KiB: 102 % of a tile's memory needed")])

    def test_page(self):
        """A dot and a line of the table for each chip; also for a single chip, whose axes have no length, and for none that fits."""
        for rows in (ROWS, ROWS[:1], ROWS[1:2]):
            text = lab.page("a <program>", rows, 2e-3)
            chips = [lab.Chip(each) for each in rows]
            self.assertEqual(len(re.findall("<circle", text)), len(rows))
            self.assertEqual(len(re.findall("<tr", text)), len(rows) + 1 + len(list(lab.answers(chips, 2e-3))))
            self.assertIn("a &lt;program&gt;", text)
            self.assertNotIn("nan", text)
        self.assertIn("<title>gc200 with tiles=100: does not fit", lab.page("p", ROWS[:1], None))

    def test_page_has_no_times_of_what_does_not_fit(self):
        text = lab.page("p", ROWS, None)
        self.assertNotIn("<td>5 ms", text)
        self.assertIn("<td>4 ms (2 ms to 8 ms)</td>", text)
        self.assertIn("does not fit, 102 %", text)
        self.assertIn("<td>0.25 J, 30 W, 0.10 of 300 W</td>", text)
        self.assertIn("Not known, and not in it: idle_watts, read_byte.", text)

    def test_ticks(self):
        self.assertEqual(lab.ticks([9, 1100]), [10, 100, 1000])
        self.assertEqual(lab.ticks([4, 60]), [5, 10, 20, 50])


if __name__ == "__main__":
    unittest.main()
