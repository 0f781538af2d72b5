#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct IncrementMod : FunctionTest<IncrementMod> {
  static constexpr std::string_view op = "IncrementMod", function = "increment_mod";
  static constexpr Input input = Input::kinked;
  static constexpr Takes takes = Takes::numbers;
  static constexpr Function call = [](Tensor x) { return ops::increment_mod(x, 1, 5); };
  static constexpr Function in_place = [](Tensor x) { return ops::increment_mod_(x, 1, 3); };
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, const auto&, const auto& x) {
      const auto [increment, modulus] = tw::unpack<tw::IncrementMod::Attributes>(node.attributes);
      return std::fmod(x[0] + increment, modulus);
    });
  }
  static constexpr void fixtures(const auto& c) {
    const auto by_fraction = [](Tensor x) { return ops::increment_mod(x, 1.5, 2); };
    c.add_forward(steps, function, by_fraction);
    c.add_forward(precision_of_steps, function, by_fraction, {3, 19});
    c.add_forward(steps, "increment_mod_inplace_in_float", [](Tensor x) { return ops::increment_mod_(x, -1.5, 2); }, {3, 19});
    c.add(narrow_integers, function, call);
  }
  static constexpr void shapes(const auto& s) {
    FunctionTest::shapes(s);
    s.error(
        "IncrementMod: modulus 0: another number expected, in graph", [](Tensor x) { return ops::increment_mod(x, 1, 0); },
        i32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    if (!x.exact() || gradients) return std::nullopt;
    const Elements& e = x.elements;
    const bool is_unsigned = x.is_int() && !tw::is_signed(x.tensor.dtype());
    const double by = is_unsigned ? random.below(4) : random.below(5) - 2, modulus = 1 + random.below(6);
    if (x.is_int() && !(e + random_programs::number_elements(by)).exact()) return std::nullopt;
    return Step{ops::increment_mod(x.tensor, by, modulus), {is_unsigned || e.low + by >= 0 ? 0 : -modulus, modulus, e.grain, 0}};
  }
  static constexpr std::optional<Step> random_in_place(const Known& x, Random&) {
    if (!x.exact()) return std::nullopt;
    return Step{ops::increment_mod_(x.tensor, 1, 1.5),
                {x.elements.low >= -1 ? 0 : -1.5, 1.5, static_cast<int>(larger(x.elements.grain, 1)), 0}};
  }
  static void numbers(auto& list) {
    list.real("increment_mod.increment", list.as_float32, [](auto& s, auto n) { return ops::increment_mod(s.x, n, 3); });
    list.real("increment_mod.modulus", list.any_outcome, [](auto& s, auto n) { return ops::increment_mod(s.x, 1, n); });
    list.real("increment_mod_.increment", list.as_float32,
              [](auto& s, auto n) { return ops::increment_mod_(s.tensor({3}), n, 3); });
    list.real("increment_mod_.modulus", list.any_outcome,
              [](auto& s, auto n) { return ops::increment_mod_(s.tensor({3}), 1, n); });
  }
  static constexpr void compared(In<signed_integers>, const auto& c) {
    c.add_forward("increment_mod_inplace", [](Tensor x) { return ops::increment_mod_(x, 1, 3); }, i32(4));
  }
  static constexpr void compared(In<float_arithmetic>, const auto& c) {
    c.add_forward("floats_increment_mod", [](Tensor a) { return ops::increment_mod(a, 1.5, 2); }, c.real({3, 7}));
  }
};

}  // namespace op_tests
