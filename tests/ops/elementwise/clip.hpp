#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Clip : FunctionTest<Clip> {
  static constexpr std::string_view op = "Clip", function = "clip";
  static constexpr Input input = Input::kinked;
  static constexpr Takes takes = Takes::numbers;
  static constexpr Function call = [](Tensor x) { return ops::clip(x, -1, 1); };
  static constexpr Function in_place = [](Tensor x) { return ops::clip_(x); };
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, const auto&, const auto& x) {
      const auto [min, max] = tw::unpack<tw::Clip::Attributes>(node.attributes);
      return std::isnan(x[0]) ? x[0] : std::min(std::max(x[0], min), max);
    });
  }
  static constexpr void fixtures(const auto& c) {
    for (const Program program : {functions, precision})
      c.add(program, "clip", [](Tensor x) { return ops::clip(x, -1.03, 0.97); });
    c.add(functions, "clip_below", [](Tensor x) { return ops::clamp(x, 0.28); });
    c.add(floats, "clip", [](Tensor x) { return ops::clip(x, -1.25, 0.875); });
    c.add(integers, "clip", [](Tensor x) { return ops::clip(x, 2, 100); });
    c.add(in_place_of_input, "clip", [](Tensor x) { return ops::clip_(x, -0.53, 0.53); });
    c.add(steps, "clip_at_bounds", [](Tensor x) { return ops::clip(x, -1, 0.5); }, {20});
    c.add(steps, "clip_reversed", [](Tensor x) { return ops::clip(x, 1, -1); }, {5});
  }
  static constexpr void edges(const auto& c) {
    c.add(function, [](Tensor x) { return ops::clip(x, -1.5, 2); }, c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    FunctionTest::shapes(s);
    s.error(
        "Clip: min 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in graph",
        [](Tensor x) { return ops::clip(x, 0.5); }, i32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    const Elements& e = x.elements;
    double low = static_cast<double>(random.below(31) - 15) / 8, high = low + random.below(3);
    const bool whole = !x.is_real() || (gradients && e.grain < 5);
    if (whole) low = static_cast<int>(low), high = static_cast<int>(high);
    if (x.is_int() && !tw::is_signed(x.tensor.dtype())) low = 0, high = larger(high, 0);
    const int grain = x.exact() ? static_cast<int>(larger(e.grain, whole ? 0 : 3)) : Elements::inexact;
    const Elements at_least{larger(e.low, low), larger(e.high, low), grain, e.slope};
    if (random.one_in(3)) return Step{ops::clip(x.tensor, low), at_least};
    return Step{random.one_in(2) ? ops::clamp(x.tensor, low, high) : ops::clip(x.tensor, low, high),
                {smaller(at_least.low, high), smaller(at_least.high, high), grain, e.slope}};
  }
  static constexpr std::optional<Step> random_in_place(const Known& x, Random& random) {
    const double least = static_cast<double>(random.below(31) - 15) / 8, most = least + 0.5;
    const int grain = x.exact() ? static_cast<int>(larger(x.elements.grain, 3)) : Elements::inexact;
    return Step{ops::clip_(x.tensor, least, most), {least, most, grain, x.elements.slope}};
  }
  static void numbers(auto& list) {
    list.real("clip.min", list.numbers, [](auto& s, auto n) { return ops::clip(s.x, n); });
    list.real("clip.max", list.numbers, [](auto& s, auto n) { return ops::clip(s.x, 0, n); });
    list.real("clamp.min", list.numbers, [](auto& s, auto n) { return ops::clamp(s.x, n); });
    list.real("clamp.max", list.numbers, [](auto& s, auto n) { return ops::clamp(s.x, 0, n); });
    list.real("clip_.min", list.numbers, [](auto& s, auto n) { return ops::clip_(s.tensor({3}), n); });
    list.real("clip_.max", list.numbers, [](auto& s, auto n) { return ops::clip_(s.tensor({3}), 0, n); });
  }
  static constexpr void handles(auto& list) {
    FunctionTest::handles(list);
    list.add("clamp", [] { (void)ops::clamp(Tensor()); });
  }
};

}  // namespace op_tests
