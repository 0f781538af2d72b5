#pragma once
#include "binary.hpp"

namespace op_tests {

struct Add : BinaryTest<Add> {
  static constexpr std::string_view op = "Add", function = "add", symbol = "operator+";
  static constexpr Row rows[] = {{float32, {2, 3}, {2, 3}},       {float32, {2, 3}, {3}, "add_row"},     {half, {2, 3}, {3}},
                                 {numbers_of_int32, {2, 3}, {3}}, {arithmetic_in_bfloat16, {3, 7}, {7}}, narrow_integers};
  static constexpr Tensor call(auto a, auto b) { return a + b; }
  static constexpr Function2 in_place = ops::add_;
  static double value(double a, double b) { return a + b; }
  static constexpr void edges(const auto& c) {
    BinaryTest::edges(c);
    edges_of_rows(c);
  }
  static constexpr Result elements(const Elements& a, const Elements& b) { return a + b; }
  static constexpr void compared(In<few_elements>, const auto& c) {
    const auto inplace = [](Tensor a, Tensor b) {
      Tensor t = a * 2;
      t += b;
      return ops::negate_(t);
    };
    c.add("inplace", inplace, c.real(), c.real());
  }
};
struct Sub : BinaryTest<Sub> {
  static constexpr std::string_view op = "Sub", function = "sub", symbol = "operator-";
  static constexpr Row rows[] = {{float32, {2, 1, 3}, {4, 1}, "sub_axes"}};
  static constexpr Tensor call(auto a, auto b) { return a - b; }
  static constexpr Function2 in_place = ops::sub_;
  static double value(double a, double b) { return a - b; }
  static constexpr void edges(const auto& c) {
    BinaryTest::edges(c);
    c.add("sub_column", of_tensors, c.real({3, 4}), c.real({3, 1}));
  }
  static constexpr Result elements(const Elements& a, const Elements& b) { return a - b; }
};
struct Mul : BinaryTest<Mul> {
  static constexpr std::string_view op = "Mul", function = "mul", symbol = "operator*";
  static constexpr Row rows[] = {{float32, {2, 3}, {}, "mul_scalar"},
                                 {float32, {3, 1}, {3, 21}, "mul_column"},
                                 {numbers_of_int32, {2, 3}, {2, 1}},
                                 {arithmetic_in_bfloat16, {3, 7}, {3, 1}}};
  static constexpr Tensor call(auto a, auto b) { return a * b; }
  static constexpr Function2 in_place = ops::mul_;
  static double value(double a, double b) { return a * b; }
  static constexpr void edges(const auto& c) {
    BinaryTest::edges(c);
    edges_of_rows(c);
  }
  static constexpr Result elements(const Elements& a, const Elements& b) { return a * b; }
  static constexpr void compared(In<without_steps>, const auto& c) {
    c.add("mul_inplace", [](Tensor a, Tensor b) { return ops::mul_(a + 1, b.detach()); }, f32(3, 19), f32(3, 1));
  }
  static constexpr void compared(In<halves>, const auto& c) {
    c.add("half_by_number", [](Tensor a, Tensor b) { return a * b; }, f16(3, 19), f32(1));
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add("view_mul", [](Tensor a, Tensor b) { return a.T() * b[back]; }, f32(19, 5), f32(5, 19));
  }
};
struct Div : BinaryTest<Div> {
  static constexpr std::string_view op = "Div", function = "div", symbol = "operator/";
  static constexpr Row rows[] = {{float32, {3, 1}, {1, 4}, "div_outer"},
                                 {numbers_of_int32, {4, 5}, {4, 5}},
                                 {arithmetic_of_floats, {3, 7}, {7}},
                                 {at_edges_of_float32, {7}, {7}},
                                 {at_edges_of_float16, {3}, {3}}};
  static constexpr Tensor call(auto a, auto b) { return a / b; }
  static constexpr Function2 in_place = ops::div_;
  static void meanings(auto& m) {
    m.elementwise("DivGrad", [](const Line& x) { return -x[0] * x[2] / (x[1] * x[1]); });
    m.elementwise(op, [](const tw::Node&, const auto& inputs, const auto& x) {
      return tw::is_int(inputs[0].spec.dtype) ? std::trunc(x[0] / x[1]) : x[0] / x[1];
    });
  }
  static constexpr void edges(const auto& c) {
    BinaryTest::edges(c);
    edges_of_rows(c);
    c.add("div_by_column", of_tensors, c.real({3, 4}), c.real({3, 1}));
  }
  static constexpr Result elements(const Elements& a, const Elements& b) {
    return b.positive() ? std::optional(Elements{-16 * a.bound(), 16 * a.bound()}) : std::nullopt;
  }
  static constexpr void compared(In<matrices_and_arithmetic>, const auto& c) {
    c.add("numbers", [](Tensor x) { return (2 * x + 1) / 4 - 3 / x; }, f32(2, 3));
  }
  static constexpr void compared(In<signed_integers>, const auto& c) {
    c.add_forward("div_inplace", [](Tensor a, Tensor b) { return a /= b; }, i32(5), i32(5));
  }
};
struct Fmod : BinaryTest<Fmod> {
  static constexpr std::string_view op = "Fmod", function = "fmod", symbol = "operator%";
  static constexpr Input input = Input::two_apart;
  static constexpr bool has_gradient = false;
  static constexpr Row rows[] = {
      {steps, {4, 19}, {4, 1}}, {steps, {5, 11}, {5, 11}, "fmod_of_special"}, {precision_of_two, {4, 19}, {4, 1}}, integers};
  static constexpr Tensor call(auto a, auto b) { return a % b; }
  static double value(double a, double b) { return std::fmod(a, b); }
  static constexpr std::optional<Step> random_of_two(const Known& a, const Known& b, Random& random, bool gradients) {
    if (gradients || !a.exact()) return std::nullopt;
    if (b.exact() && b.elements.low > 0)
      return Step{ops::fmod(a.tensor, b.tensor),
                  {-b.bound(), b.bound(), Elements::common(a.elements.grain, b.elements.grain), 0}};
    const double by = 0.25 * (1 + random.below(8));
    return Step{a.tensor % by, {-by, by, static_cast<int>(larger(a.elements.grain, 2)), 0}};
  }
  static void numbers(auto& list) {
    BinaryTest::numbers(list);
    list.real("fmod.a", list.everything, [](auto& s, auto n) { return ops::fmod(n, s.x); });
    list.real("fmod.b", list.everything, [](auto& s, auto n) { return ops::fmod(s.x, n); });
  }
};

}  // namespace op_tests
