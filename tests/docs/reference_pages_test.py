#!/usr/bin/env python3
"""Tests what reference_pages.py shows of a header, and what rules/option_pages.py finds missing."""

import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "docs"), str(TESTS / "rules")]
import option_pages  # noqa: E402
import reference_pages  # noqa: E402

LAYER = """#pragma once
namespace tilewright::layers {

/// As torch.nn.Scale's.
struct ScaleOptions {
  Flag bias = true;  ///< whether there is one
  double eps = 1e-5;
};

namespace detail {
struct HiddenOptions {
  int number = 0;
};
}  // namespace detail

/// x weight + bias: torch.nn.Scale.
///
/// Variables and initial values: `weight` (n,), ones.
template <int axes, ScaleOptions options = {}>
struct Scale : Module<Scale<axes, options>> {
  using Inner = Linear<axes, {.bias = options.bias}>;
  using Unused = Inner;
  BOOST_HANA_DEFINE_STRUCT(Scale, (Inner, inner));
  constexpr Tensor build(Tensor x) { return inner(x); }

 private:
  Tensor weight_;
};
template <ScaleOptions options = {}>
using Scale2d = Scale<2, options>;

/// Scales x.
constexpr Tensor scaled(Tensor x, const ScaleOptions& options = {}) { return x; }
constexpr Tensor scaled(Tensor x, Tensor y) { return x; }
/// Scales by a number.
constexpr Tensor scaled(Tensor x, double by) { return x; }

}  // namespace tilewright::layers
"""


def headers_with(text):
    return option_pages.Headers({"layers/scale.hpp": text})


class ReferencePagesTest(unittest.TestCase):
    def setUp(self):
        self.entries = {entry.name: entry for entry in reference_pages.entries_of(LAYER)}

    def test_what_is_shown(self):
        self.assertEqual(list(self.entries), ["ScaleOptions", "Scale", "scaled"])

    def test_options_have_defaults_and_meanings(self):
        self.assertEqual(self.entries["ScaleOptions"].blocks[0][0], "Flag bias = true  // whether there is one\ndouble eps = 1e-5")
        self.assertEqual(self.entries["ScaleOptions"].comes_first, "As torch.nn.Scale's.")

    def test_a_template_shows_its_parameters_its_modules_and_short_names(self):
        self.assertEqual(self.entries["Scale"].blocks[0][0],
                         "template <int axes, ScaleOptions options = {}>\nstruct Scale {\n"
                         "  using Inner = Linear<axes, {.bias = options.bias}>\n  Inner inner;\n  Tensor build(Tensor x)\n}\n"
                         "template <ScaleOptions options = {}> using Scale2d = Scale<2, options>")

    def test_overloads_share_a_heading(self):
        self.assertEqual(self.entries["scaled"].blocks,
                         [["Tensor scaled(Tensor x, const ScaleOptions& options = {})\nTensor scaled(Tensor x, Tensor y)", "Scales x."],
                          ["Tensor scaled(Tensor x, double by)", "Scales by a number."]])

    def test_what_internal_gives_to_users(self):
        text = "namespace tilewright::internal {\n/// Collects.\ninline int collect() { return 1; }\n}\n" \
               "namespace tilewright {\nusing internal::collect;\n}\n"
        self.assertEqual([(entry.name, entry.blocks) for entry in reference_pages.entries_of(text)],
                         [("collect", [["int collect()", "Collects."]])])

    def test_constants_with_a_comment(self):
        text = "namespace tilewright {\n/// How many.\ntemplate <class T>\ninline constexpr std::size_t count = [] { return 1; }();\n" \
               "/// Of pixels.\ninline constexpr float mean = 0.1307f;\ninline constexpr int other = 2;\nint without_comment();\n}\n"
        self.assertEqual([(entry.name, entry.blocks) for entry in reference_pages.entries_of(text)],
                         [("count", [["template <class T> std::size_t count", "How many."]]),
                          ("mean", [["float mean = 0.1307f", "Of pixels."]])])

    def test_links_to_options_of_ops(self):
        anchors = reference_pages.options_of_ops(
            {"ops/linear.md": "### conv\n\n`ConvOptions`: of a convolution.\n\n### squash_\n\n`SquashOptions`\n"})
        self.assertEqual(anchors, {"ConvOptions": "ops/linear.md#conv",
                                   "SquashOptions": "ops/linear.md#squash_"})
        entry = reference_pages.Entry("f", "function", "void f(ConvOptions a, SquashOptions b)", "")
        self.assertEqual(entry.links(anchors, {"SquashOptions"}), "Options of ops: [ConvOptions](ops/linear.md#conv).\n\n")

    def test_no_text_is_taken_for_a_tag(self):
        page = "Of a Session<program>, `a<b>`, x < y.\n\n    f<g>();\n\n```cpp\nh<i>\n```\n"
        self.assertEqual(reference_pages.without_tags(page), page.replace("Session<", "Session&lt;"))

    def test_pages_have_what_they_are_for(self):
        pages = reference_pages.pages({})
        for page, names in {"reference-layers.md": ["Linear", "TransformerBlock", "LlamaBlockOptions", "rotary_embedding"],
                            "reference-training.md": ["StepOptions", "train_step", "Updater", "AdamWParameters", "StepDecay"],
                            "reference-data.md": ["LoaderOptions", "TensorRule", "map_tensors", "Profile", "write_report"],
                            "reference.md": ["Session", "VariableInputOptions"]}.items():
            for name in names:
                self.assertIn(f"\n### {name}\n", pages[page])
        self.assertIn("[SessionOptions](#sessionoptions), ", pages["reference.md"])
        self.assertIn("[SessionOptions](#sessionoptions-1)", pages["reference.md"])


class OptionPagesTest(unittest.TestCase):
    def test_a_member_without_a_comment(self):
        self.assertEqual(list(option_pages.problems_of_options(headers_with(LAYER), {("layers/scale.hpp", "ScaleOptions")})),
                         ["layers/scale.hpp: ScaleOptions::eps: a comment of what it means expected"])

    def test_options_without_a_page(self):
        problems = list(option_pages.problems_of_options(headers_with(LAYER), {"ScaleOptions", ("other.hpp", "ScaleOptions")}))
        self.assertEqual(len(problems), 2)
        self.assertIn("ScaleOptions: no page", problems[0])

    def test_structs_that_are_options_by_their_use_or_place(self):
        text = "namespace tilewright {\nstruct How {\n  Inner inner{};\n};\nstruct Inner {\n  int a = 0;\n};\nstruct Result {\n  int b;\n" \
               "};\nvoid f(const How& how = {});\n}\n"
        self.assertEqual([name for _, name in option_pages.Headers({"graph/f.hpp": text}).options()], ["How", "Inner"])
        self.assertEqual([name for _, name in option_pages.Headers({"train/f.hpp": text}).options()], ["How", "Inner"])
        alone = text.replace("const How& how = {}", "")
        self.assertEqual([name for _, name in option_pages.Headers({"graph/f.hpp": alone}).options()], [])
        self.assertEqual([name for _, name in option_pages.Headers({"train/f.hpp": alone}).options()], ["How", "Inner"])

    def test_a_layer_without_counterpart_and_first_values(self):
        self.assertEqual(list(option_pages.problems_of_layers(headers_with(LAYER))), [])
        text = LAYER.replace(": torch.nn.Scale.", ".").replace("Variables and initial values", "Variables")
        self.assertEqual(list(option_pages.problems_of_layers(headers_with(text))),
                         ["layers/scale.hpp: Scale: the layer of another library that it is expected",
                          "layers/scale.hpp: Scale: its variables and their initial values expected"])


if __name__ == "__main__":
    unittest.main()
