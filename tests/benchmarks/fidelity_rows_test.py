#!/usr/bin/env python3
"""Tests how benchmarks/fidelity_rows.py reads and compares measurements, of made-up plans; with a program, also of real ones."""

import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import fidelity_rows  # noqa: E402

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else None
ROWS = """\
kind,name,shape,measured,unit,base,clock_hz
product,first,64x32x16,100,cycles,,
product,second,8x64x32x16,2,us,bow,2000000000
gather,third,10x4x2,50,cycles,gc2,
"""
MODELLED = [{"machine": "gc200", "fits": True, "cycles": 110, "seconds": 1e-7},
            {"machine": "bow with clock_hz=2000000000", "fits": True, "cycles": 9, "seconds": 1e-6},
            {"machine": "gc2", "fits": False, "cycles": 7, "seconds": 1e-8}]


class RowsTest(unittest.TestCase):
    def test_read(self):
        rows = fidelity_rows.read(ROWS)
        self.assertEqual([row["base"] for row in rows], ["gc200", "bow", "gc2"])
        self.assertEqual(rows[1]["shape"], [8, 64, 32, 16])
        self.assertEqual([row["numbers"] for row in rows], [{}, {"clock_hz": 2000000000}, {}])

    def test_errors(self):
        for text, expected in (("kind,shape\n", "line 1: no measured, unit"), (ROWS.replace(",100,", ",0,"), "line 2: measured"),
                               (ROWS.replace("us", "h"), "line 3: unit 'h': cycles, us, ms or s expected"),
                               (ROWS.replace("10x4x2", "10xx"), "line 4: invalid literal"),
                               ("kind,shape,measured,unit\nproduct,1\n", "line 2: 4 cells expected")):
            with self.assertRaisesRegex(ValueError, expected):
                fidelity_rows.read(text)

    def test_compare(self):
        compared = list(fidelity_rows.compare(fidelity_rows.read(ROWS), MODELLED))
        self.assertAlmostEqual(compared[0]["error"], 0.1)
        self.assertAlmostEqual(compared[1]["error"], -0.5)
        self.assertIsNone(compared[2]["error"])
        kinds = {each["kind"]: each for each in fidelity_rows.by_kind(compared)}
        self.assertEqual(list(kinds), ["product", "gather", "all"])
        self.assertAlmostEqual(kinds["product"]["mean"], 0.3)
        self.assertAlmostEqual(kinds["product"]["worst"], -0.5)
        self.assertAlmostEqual(kinds["product"]["ratio"], (1.1 * 0.5) ** 0.5)
        self.assertEqual((kinds["all"]["rows"], kinds["all"]["that_fit"]), (3, 2))
        self.assertNotIn("mean", kinds["gather"])
        self.assertEqual(list(csv.DictReader(io.StringIO(fidelity_rows.as_csv(compared))))[2]["modelled"], "")

    @unittest.skipUnless(PROGRAM, "no program")
    def test_plans(self):
        def run(text, *options):
            with tempfile.TemporaryDirectory() as folder:
                path, into = Path(folder) / "rows.csv", Path(folder) / "rows.json"
                path.write_text(text)
                answer = subprocess.run([sys.executable, BENCHMARKS / "fidelity.py", "--program", PROGRAM, "--rows", path, "--json", into, *options],
                                        capture_output=True, text=True)
                return answer, json.loads(into.read_text()) if into.exists() else None

        shapes = {"product": "256x128x64", "reduction": "1000x200", "convolution": "1x16x14x14x32x3x3x1x1", "gather": "100x16x20",
                  "scaled_add": "100000"}
        answer, found = run("kind,shape,measured,unit\n" + "".join(f"{kind},{shape},1000,cycles\n" for kind, shape in shapes.items()))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([row["kind"] for row in found["rows"]], list(shapes))
        self.assertTrue(all(row["modelled"] > 0 for row in found["rows"]))
        self.assertTrue(all(row["machine"] == "gc200 with banks=as_allocated" for row in found["rows"]))
        answer, best = run("kind,shape,measured,unit\nscaled_add,100000,1000,cycles\n", "--banks", "best")
        self.assertEqual(best["rows"][0]["machine"], "gc200")
        self.assertLess(best["rows"][0]["modelled"], found["rows"][-1]["modelled"])
        # A convolution of one group is one without groups; that of each channel alone has fewer operations.
        convolution = shapes["convolution"]
        answer, found = run("kind,shape,measured,unit\n" + "".join(
            f"convolution,{shape},1000,cycles\n" for shape in (convolution, f"{convolution}x1", f"{convolution}x16")))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        alone, one_group, depthwise = (row["modelled"] for row in found["rows"])
        self.assertEqual(alone, one_group)
        self.assertLess(depthwise, alone)
        for wrong, text in (("products,1x1x1,1,cycles", "kind 'products': one of product,"), ("product,1x1,1,cycles", "m, k, n expected"),
                            (f"convolution,{convolution}x3,1,cycles", "groups 3: a divisor of the channels expected"),
                            ("product,1x1x1,1,cycles,8", "unknown key 'tile'")):
            head = "kind,shape,measured,unit" + (",tile" if wrong.endswith("8") else "")
            answer, _ = run(f"{head}\n{wrong}\n")
            self.assertEqual(answer.returncode, 2)
            self.assertIn("line 2: ", answer.stderr)
            self.assertIn(text, answer.stderr)


if __name__ == "__main__":
    unittest.main()
