#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct ScaledAdd : OpTest {
  static constexpr std::string_view op = "ScaledAdd";
  static constexpr auto scaled_add(const tw::ScaledAddFactors& factors = {}) {
    return [factors](Tensor x, Tensor y) { return ops::scaled_add(x, y, factors); };
  }
  static constexpr auto scaled_add_(const tw::ScaledAddFactors& factors) {
    return [factors](Tensor x, Tensor y) { return ops::scaled_add_(x, y, factors); };
  }
  static void meanings(auto& m) {
    m[op] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto attributes = tw::unpack<tw::ScaledAdd::Attributes>(node.attributes);
      std::size_t next = 2;
      const double a = attributes.inputs & 1 ? inputs[next++][0] : attributes.a;
      const double b = attributes.inputs & 2 ? inputs[next][0] : attributes.b;
      Array result(outputs[0]);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = a * inputs[0][i] + b * inputs[1][i];
      return std::vector{result};
    };
    m["ScaledAddLhsInplace"] = m[op];
  }
  static constexpr void compared(In<matrices_and_arithmetic>, const auto& c) {
    c.add("scaled_add", scaled_add({.a = 0.5, .b = -2}), f32(3, 19), f32(3, 19));
    c.add(
        "scaled_add_tensors", [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, f32(2, 3),
        f32(2, 3), f32(), f32(1));
    c.add_forward("scaled_add_inplace", scaled_add_({.a = 2, .b = -1}), f32(3, 19), f32(3, 19));
  }
  static constexpr void compared(In<half_precision>, const auto& c) {
    c.add("half_scaled_add", scaled_add({.b = 0.5}), f16(2, 3), f32(2, 3));
  }
  static constexpr void compared(In<doubles>, const auto& c) {
    c.add("scaled_add_in_double", scaled_add({.a = 0.5, .b = -2}), f64(3, 19), f64(3, 19));
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add(
        "view_scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a.T(), b[back], {.a = 0.5, .b = -2}); }, f32(19, 5),
        f32(5, 19));
  }
  static constexpr void compared(In<float_arithmetic>, const auto& c) {
    c.add(
        "floats_scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 2, .b = -0.5}); }, c.real({3, 7}),
        c.real({3, 7}));
  }
  static constexpr void compared(In<more_of_integers>, const auto& c) {
    const auto both = [](Tensor x, Tensor y, Tensor a, Tensor b) {
      return std::array{ops::scaled_add(x, y, {.a = 3, .b = 2}), ops::scaled_add(x, y, a, b)};
    };
    c.add_forward("scaled_add", both, c.real({11}), c.real({11}), c.real({}), c.real({1}));
  }
  static constexpr void compared(In<precision_of_steps>, const auto& c) {
    c.add(
        "scaled_add_of_tensors", [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); },
        c.real({3, 19}), c.real({3, 19}), c.real({}), c.real({1}));
  }
  static constexpr void compared(In<few_elements>, const auto& c) {
    c.add("scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 0.5, .b = -2}); }, c.real(), c.real());
  }
  static constexpr void edges(const auto& c) {
    c.add("scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 0.5, .b = -3}); }, c.real({8}), c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3), scaled_add({.b = -0.5}), f32(2, 3), f16(2, 3));
    s.result(f16(2, 3), scaled_add_({.b = -0.5}), f16(2, 3), f32(2, 3));
    s.result(f32(3), [](Tensor x, Tensor y, Tensor a) { return ops::scaled_add(x, y, a, a); }, f32(3), f32(3), f32(1));
    s.error("ScaledAdd: (2, 3) float32 and (3,) float32: equal shapes expected, in graph", scaled_add(), f32(2, 3), f32(3));
    s.error(
        "ScaledAdd: factor (3,) float32: one element expected, in graph",
        [](Tensor x, Tensor y, Tensor a) { return ops::scaled_add(x, y, a, a); }, f32(3), f32(3), f32(3));
    s.error(
        "ScaledAddLhsInplace: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph",
        [](Tensor x) { return ops::scaled_add_(x.ir().constant(1.0), x); }, f32());
    s.error(
        "ScaledAdd: (2, 3) bool: float16, float32, float64 or bfloat16 expected, in graph",
        [](Tensor x) { return ops::scaled_add(x.cast(tw::boolean), x); }, f32(2, 3));
    s.error(
        "ScaledAdd: (1,) int32 and (1,) int64: equal dtypes expected, in graph",
        [](Tensor k) { return ops::scaled_add(k, k.cast(tw::int64)); }, i32(1));
    s.error(
        "ScaledAdd: a 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in graph",
        [](Tensor k) { return ops::scaled_add(k, k, {.a = 0.5}); }, i32(1));
  }
  static void numbers(auto& list) {
    list.real("ScaledAddFactors.a", list.as_float32, [](auto& s, auto n) { return ops::scaled_add(s.x, s.x, {.a = n}); });
    list.real("ScaledAddFactors.b", list.as_float32, [](auto& s, auto n) { return ops::scaled_add(s.x, s.x, {.b = n}); });
    list.real("scaled_add.a", list.as_float32, [](auto& s, auto n) { return ops::scaled_add(s.x, s.x, n, 1); });
    list.real("scaled_add.b", list.as_float32, [](auto& s, auto n) { return ops::scaled_add(s.x, s.x, 1, n); });
    list.real("scaled_add_.a", list.as_float32,
              [](auto& s, auto n) { return ops::scaled_add_(s.tensor({3}), s.tensor({3}), n, 1); });
    list.real("scaled_add_.b", list.as_float32,
              [](auto& s, auto n) { return ops::scaled_add_(s.tensor({3}), s.tensor({3}), 1, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("scaled_add", [] { (void)ops::scaled_add(Tensor(), Tensor()); });
    list.add("scaled_add", [] { (void)ops::scaled_add(Tensor(), Tensor(), 1, 1); });
    list.add("scaled_add_", [] { (void)ops::scaled_add_(Tensor(), Tensor()); });
    list.add("scaled_add_", [] { (void)ops::scaled_add_(Tensor(), Tensor(), 1, 1); });
  }
};

}  // namespace op_tests
