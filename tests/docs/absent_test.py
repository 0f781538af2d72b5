#!/usr/bin/env python3
"""Tests the rule that no page says of a thing of the reference that it is absent."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "rules"))
import absent  # noqa: E402

NAMES = {"gelu", "Session", "io_tile_exchange"}


class AbsentTest(unittest.TestCase):
    def found(self, text):
        return list(absent.problems(text, NAMES))

    def test_what_is_found(self):
        self.assertEqual(self.found("Tiles:\nSo there is no `io_tile_exchange`."), [(2, "io_tile_exchange")])
        self.assertEqual(self.found("The library has\nno `tw::ops::gelu(x)`."), [(1, "gelu")])
        self.assertEqual(self.found("There are no `other`, `Session` or `tw::ops::gelu`."), [(1, "Session"), (1, "gelu")])
        self.assertEqual(self.found("It has no `other` and no `gelu`."), [(1, "gelu")])

    def test_what_is_right(self):
        for text in ("There is no `geglu`.", "PyTorch has no `gelu`.", "there is no gelu here", "`gelu` has no `work`",
                     "```\nthere is no `gelu`\n```\n", "It has no `work`; use `gelu`."):
            self.assertEqual(self.found(text), [], text)


if __name__ == "__main__":
    unittest.main()
