#!/usr/bin/env python3
"""Tests what `./dev bench compiling` reads from the reports of compilers, and how it writes figures. Nothing is compiled."""

import sys
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "benchmarks"))
import compile_pages as pages  # noqa: E402
import compile_reports as reports  # noqa: E402
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


def header(begin, end, path):
    return [{"ph": phase, "name": "Source", "ts": time, "args": {"detail": path}} for phase, time in (("b", begin), ("e", end))]


OURS, STANDARD = "/home/me/include/tilewright/a.hpp", "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/vector"
TRACE = {"traceEvents": [
    *header(1_000_000, 3_500_000, STANDARD),  # within the other header; Clang writes what ends first
    *header(0, 6_000_000, OURS),
    span("InstantiateFunction", 1_500_000, 500_000, "std::grow<int>"), span("EvaluateAsInitializer", 1_600_000, 100_000),
    span("InstantiateClass", 1_200_000, 1_800_000, "tilewright::List<int, A<2>>"),
    span("InstantiateClass", 4_000_000, 1_000_000, "tilewright::List<double>::Part"),
    span("Frontend", 0, 8_000_000), span("Backend", 8_000_000, 3_000_000), span("Optimizer", 8_000_000, 2_000_000),
    span("ExecuteCompiler", 0, 11_000_000), span("Total Frontend", 0, 8_000_000)]}


class ReportsTest(unittest.TestCase):
    def test_gcc(self):
        phases, within = reports.gcc_rows(REPORT)
        self.assertEqual([row[0] for row in phases], ["reading headers and source", "optimising and generating"])
        for row, expected in zip(phases, [(10.66, 759), (15.5, 2.048)]):
            self.assertAlmostEqual(row[1], expected[0])
            self.assertAlmostEqual(row[2], expected[1])
        self.assertEqual([(what, round(time, 2), size) for what, time, size in within],
                         [("looking up names", 2.27, 30), ("collecting garbage", 4.21, 0)])

    def test_phases_of_clang(self):
        self.assertEqual([row[1] for row in reports.clang_phases(TRACE)], [8, 2.8, 0.1, 2, 1])

    def test_a_trace_scaled_to_processor_time(self):
        self.assertEqual([row[1] for row in reports.clang_phases(reports.scaled(TRACE, 5.5))], [4, 1.4, 0.05, 1, 0.5])

    def test_owners_of_headers(self):
        for path, owner in {
                OURS: "ours", STANDARD: "standard library", "/usr/include/x86_64-linux-gnu/c++/12/bits/c++config.h": "standard library",
                "/usr/lib/llvm-19/include/c++/v1/vector": "standard library", "/usr/include/xtl/xsequence.hpp": "xtensor",
                "/usr/include/xtensor/xarray.hpp": "xtensor", "/usr/include/xsimd/types/../arch/./xsimd_avx.hpp": "xsimd",
                "/usr/include/boost/hana/map.hpp": "Hana", "/usr/include/boost/hana.hpp": "Hana",
                "/usr/lib/llvm-19/lib/clang/19/include/avx512fintrin.h": "intrinsics",
                "/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h": "intrinsics",
                "/usr/lib/llvm-19/lib/clang/19/include/stddef.h": "others", "/usr/include/boost/config.hpp": "others",
                "/usr/include/x86_64-linux-gnu/bits/mathcalls.h": "others"}.items():
            self.assertEqual(reports.owner_of_header(path), owner, path)

    def test_owners_of_templates(self):
        for name, owner in {"tilewright::List": "ours", "std::__or_": "standard library", "xt::xarray": "xtensor", "xtl::seq": "xtensor",
                            "xsimd::batch": "xsimd", "boost::hana::map": "Hana", "boost::mpl::list": "others",
                            "Net": "others"}.items():
            self.assertEqual(reports.owner_of_template(name), owner, name)

    def test_own_seconds(self):
        owners, headers, templates = reports.clang_owners(TRACE)
        self.assertEqual(dict(owners), {"ours": 2.5 + 2.3, "standard library": 0.7 + 0.5, "others": 2})
        self.assertEqual(sorted(headers), [("c++/12/vector", 0.7, 2.5), ("tilewright/a.hpp", 2.5, 6)])
        self.assertEqual(sorted(templates), [("std::grow", 0.5, 1), ("tilewright::List", 2.3, 2)])


NAMES = {"readme": "the README's program", "check": "check", "single": "one header", "library": "once"}
COSTS = {("readme", "GCC"): (20.0, 1000), ("check", "GCC"): (5.0, 500), ("readme", "Clang"): (12.34, 610), ("check", "Clang"): None,
         ("single", "GCC"): (30.0, 2000)}


class PagesTest(unittest.TestCase):
    def test_each_block_of_the_pages(self):
        self.assertEqual({page: [match["name"] for match in pages.BLOCK.finditer((PROJECT / page).read_text())] for page in pages.PAGES},
                         {"README.md": ["readme"], "docs/generated/compile-times.md": ["library", "single"],
                          "docs/how-to/trying-things.md": ["edit"]})

    def test_a_block_is_written_and_nothing_else(self):
        page = "a\n<!-- written by ./dev bench compiling --write: {} -->\n{}<!-- to here -->\nb\n"
        both = page.format("edit", "old\n") + page.format("single", "old\n")
        self.assertEqual(pages.with_blocks(both, {"edit": "new\n"}), page.format("edit", "new\n") + page.format("single", "old\n"))

    def test_figures(self):
        texts = pages.blocks(NAMES, COSTS, {"GCC": "GCC 1.2", "Clang": "Clang 3.4"}, [], "a Made-Up 9000", "")
        self.assertIn("| compiling: processor time, peak memory | GCC 1.2 | Clang 3.4 |\n| --- | ---: | ---: |\n"
                      "| the program above | 20.0 s, 1.00 GB | 12.3 s, 0.61 GB |\n| check | 5.0 s, 0.50 GB, 25 % |  |\n", texts["readme"])
        self.assertIn("GCC 1.2 with `-O3` takes 30.0 s and 2.00 GB to compile", texts["single"])
        self.assertNotIn("library", texts)  # it is not measured

    def test_a_commit_beside(self):
        rows = {"readme": compiling.ROWS["readme"]}
        costs = {("readme", "GCC", ""): (10.0, 900), ("readme", "GCC", "abc"): (20.0, 1000)}
        self.assertEqual(compiling.compared(rows, costs, {"GCC": "GCC 1.2"}, "abc").splitlines()[::2],
                         ["| | GCC 1.2, abc | now | ratio |", "| the README's program, `-O3` | 20.0 s, 1.00 GB | 10.0 s, 0.90 GB | 0.50 |"])

    def test_the_least_of_rounds(self):
        self.assertEqual(compiling.least([(3, 10), (2, 20)]), (2, 10))
        self.assertIsNone(compiling.least([(3, 10), None]))


if __name__ == "__main__":
    unittest.main()
