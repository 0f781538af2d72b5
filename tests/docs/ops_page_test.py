#!/usr/bin/env python3
"""Tests what ops_page.py reads from declarations."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ops_page  # noqa: E402
import reference_pages  # noqa: E402
from declarations import declarations, error_messages  # noqa: E402

SAMPLE = """#pragma once
namespace tilewright {

class Inference {
 public:
  /// Fails unless both are equal.
  constexpr bool require_equal_dtypes(int a, int b) {
    fail(to_text(input(a)), " and ", to_text(input(b)), ": equal dtypes expected");
    return false;
  }
};

template <class D>
struct Family : Op<D> {
  static constexpr void infer(Inference& op) {
    if (!op.require_equal_dtypes(0, 1)) return;
    if (op.input(0).shape.rank > max_rank) return op.fail(to_text(op.input(0)), ": at most ", max_rank, " axes expected");
  }
};

/// a / (1 + a),
/// in two lines.
struct Squash : Family<Squash> {
  static constexpr std::string_view name = "Squash";
  template <class X> static X forward(X a) { return math::divide(a, math::number<X>(1) + a); }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return {true, "element", text("a number above ", -1)};
  }
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient(0, ops::sum_to(op.output_gradient(0) * op.output(0), op.input_spec(0).shape));
  }
};
struct SquashInplace : Family<SquashInplace> {
  static constexpr std::string_view name = "SquashInplace";
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
};

/// What it takes.
struct SquashOptions {
  double by = 10'000;  ///< at least 0
};

namespace detail {
constexpr bool check_options(Ir& ir, const SquashOptions& options) {
  if (options.by < 0) ir.fail(text("squash: by ", options.by, ": at least 0 expected"));
}
}  // namespace detail

namespace ops {
/// Of any shape.
constexpr Tensor squash(Tensor a, const SquashOptions& options = {}) {
  detail::check_options(a.ir(), options);
  return apply<Squash>({a});
}
constexpr Tensor squash_(Tensor a) { return apply<SquashInplace>({a}); }
}  // namespace ops

}  // namespace tilewright
"""


class OpsPageTest(unittest.TestCase):
    def setUp(self):
        self.library = ops_page.Library([SAMPLE])
        self.groups = ops_page.op_functions(SAMPLE)

    def test_functions_of_namespace_ops(self):
        self.assertEqual(list(self.groups), ["squash", "squash_"])
        self.assertEqual(self.groups["squash"][0].comment, "Of any shape.")
        self.assertEqual(reference_pages.signature(self.groups["squash"][0].head),
                         "Tensor squash(Tensor a, const SquashOptions& options = {})")

    def test_facts_of_an_op(self):
        lines, errors = ops_page.facts_of(self.library, "Squash", self.groups["squash"][0], self.groups)
        self.assertEqual(lines, ["- `Squash`: a / (1 + a), in two lines.", "- element: `divide(a, 1 + a)`",
                                 "- gradient of input 0: `sum_to(dy * y, shape of input 0)`",
                                 "- in place: [`squash_`](#squash_)",
                                 "- fault: `Squash: element …: a number above … expected`"])
        self.assertEqual(errors, ["Squash: …: at most … axes expected", "Squash: … and …: equal dtypes expected"])

    def test_facts_of_an_op_in_place(self):
        lines, _ = ops_page.facts_of(self.library, "SquashInplace", self.groups["squash_"][0], self.groups)
        self.assertEqual(lines[1:], ["- gradient: none; autodiff refuses the op",
                                     "- in place: writes its input 0; the result is an alias of it"])

    def test_errors_of_what_a_function_calls(self):
        self.assertEqual(self.library.errors(self.groups["squash"][0].body),
                         [(False, "squash: by …: at least 0 expected")])

    def test_options_are_shown_once(self):
        described = set()
        texts = list(ops_page.options_in(self.library, self.groups["squash"][0].head, described))
        self.assertEqual(texts, ["`SquashOptions`: What it takes.\n\n```\ndouble by = 10'000;  ///< at least 0\n```\n\n"])
        self.assertEqual(list(ops_page.options_in(self.library, "SquashOptions", described)), [])

    def test_classes_show_their_public_members(self):
        text = "class A {\n public:\n  A(int x) : x_{x} {}\n  /// The number.\n  int x() const { return x_; }\n\n private:\n" \
               "  int x_ = 0;\n};\n"
        self.assertEqual(reference_pages.member_lines(next(declarations(text))), "A(int x)\n/// The number.\nint x() const")

    def test_messages(self):
        self.assertEqual(list(error_messages('op.fail("axis ", axis, twice ? " twice" : "", ": distinct axes " "expected");', {})),
                         [(True, "axis … : distinct axes expected".replace("… :", "…:"))])

    def test_every_op_of_the_library_is_there(self):
        page = ops_page.ops_page(ops_page.library_of_headers())
        for name in ["matmul", "gelu", "conv", "host_load", "call", "repeat_with_info", "replicated_all_gather", "adam_updater"]:
            self.assertIn(f"### {name}\n", page)
        self.assertIn("- `MatMul`", page)
        self.assertIn("inner dimensions … and … differ", page)


if __name__ == "__main__":
    unittest.main()
