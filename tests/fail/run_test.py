#!/usr/bin/env python3
"""run.py finds what is wrong with cases: the compiler is the one argument."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).with_name("run.py")
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "g++"

SHARED = """
template <int size>
struct Positive {
  static_assert(size > 0, "a size above 0 expected");
};
template <int size>
struct Even : Positive<size> {
  static_assert(size % 2 == 0, "an even size expected");
};
"""
RIGHT = """
// CASE negative
// expect: a size above 0 expected
Even<-2> negative;

// CASE odd
// expect: an even size expected
Even<3> odd;
"""
ALONE = """
// CASE alone
// flags: -DSIZE=1
// expect: an even size expected
#ifdef CASE_alone
Even<SIZE> size;
#endif
"""
PROGRAM = """
// expect: a size above 0 expected
template <int size>
struct Positive {
  static_assert(size > 0, "a size above 0 expected");
};
Positive<-2> negative;
"""


def run(text):
    """The exit status, and the lines of what run.py prints that say how a case went, with what misses."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cases.cpp"
        source.write_text(text)
        result = subprocess.run([sys.executable, RUN, "--compiler", COMPILER, "--flags=-std=c++20", source], capture_output=True,
                                text=True)
        lines = (result.stdout + result.stderr).splitlines()
        return result.returncode, [line for line in lines if line.startswith(("ok ", "FAIL ", "  not in", "  the first", "  a list", "  4 errors", str(source)))]


class RunTest(unittest.TestCase):
    def check(self, text, *expected):
        status, lines = run(text)
        self.assertNotEqual(status, 0)
        for line in expected:
            self.assertTrue(any(line in given for given in lines), f"{line!r} is not in {lines}")

    def test_right(self):
        names = ["without a case", "negative", "odd"]
        self.assertEqual(run(SHARED + RIGHT), (0, [f"ok   cases: {name}" for name in names]))
        self.assertEqual(run(SHARED + ALONE), (0, ["ok   cases: without a case", "ok   cases: alone"]))

    def test_a_case_that_compiles(self):
        self.check(SHARED + RIGHT.replace("Even<3>", "Even<4>"), "FAIL cases: odd: compiles", "ok   cases: negative")
        self.check(SHARED + ALONE.replace("SIZE=1", "SIZE=2"), "FAIL cases: alone: compiles", "ok   cases: without a case")

    def test_another_reason(self):
        self.check(SHARED + RIGHT.replace("Even<3>", "Even<-4>"), "FAIL cases: odd: ", "not in the output: an even size expected")

    def test_the_reason_of_another_case(self):
        wrong = RIGHT.replace("// expect: an even", "// expect: a size above 0 expected\n// expect: an even")
        self.check(SHARED + wrong, "FAIL cases: odd: ", "not in the output: a size above 0 expected")

    def test_a_text_of_the_source(self):
        self.check(SHARED + RIGHT.replace("// expect: an even", "// expect: Even<3> odd;\n// expect: an even"), "FAIL cases: odd: ")

    def test_a_place(self):
        placed = RIGHT.replace("// expect: an even", "// expect-place: Even<3>\n// expect: an even")
        self.assertEqual(run(SHARED + placed)[0], 0)
        self.check(SHARED + placed.replace("odd;", "odd;\nint code;").replace(": Even<3>", ": int code"), "FAIL cases: odd: ", "cases.cpp:")
        self.check(SHARED + placed.replace(": Even<3>", ": Even<5>"), "FAIL cases: odd: ", "not in the output: cases.cpp:0:")

    def test_an_error_of_no_case(self):
        self.check(SHARED + "Even<5> five;" + RIGHT, "FAIL cases: without a case: has errors", "ok   cases: odd")
        self.check("#include <not_there>" + SHARED + RIGHT, "FAIL cases: without a case: has errors")
        self.check(SHARED + "Even<5> five;" + ALONE, "FAIL cases: without a case: does not compile", "ok   cases: alone")

    def test_cases_alone_and_together(self):
        self.check(SHARED + RIGHT + ALONE, "negative and alone: '#ifdef CASE_<name>' in both, or in none, expected")

    def test_a_text_that_goes_on_in_a_line_without_expect(self):
        self.check(SHARED + RIGHT.replace("above 0 expected", "above 0\n// expected"), "'// expect: ...', or code, expected")

    def test_a_whole_program(self):
        self.assertEqual(run(PROGRAM), (0, ["ok   cases: whole program"]))
        self.check(PROGRAM.replace("<-2>", "<2>"), "FAIL cases: whole program: compiles")
        self.check(PROGRAM.replace("Positive<-2>", "int zero = none; Positive<-2>"), "not in the output: a size above 0 expected")
        self.check(PROGRAM + "int a = no_a; int b = no_b; int c = no_c;", "4 errors: at most 3 expected")
        self.check("#include <utility>\nint list = std::index_sequence<0>();" + PROGRAM, "a list of types")
        self.check("#warning earlier\n" * 17 + PROGRAM, "of the output: at most 16 expected")

    def test_a_program_of_a_page(self):
        of_page = PROGRAM.replace("// expect: a size above", "// first-GCC: a size above 0 expected\n// first-Clang: a size above")
        self.assertEqual(run(of_page), (0, ["ok   cases: whole program"]))
        later = of_page + "int a = no_a;\n// later-GCC: no_a\n// later-Clang: no_a"
        self.assertEqual(run(later), (0, ["ok   cases: whole program"]))
        self.check(later.replace(": no_a", ": no_b"), "not in the output: no_b")
        self.check(of_page.replace("Positive<-2>", "int zero = none; Positive<-2>"), "not in the output: a size above 0 expected")


if __name__ == "__main__":
    unittest.main()
