#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// D has `op` and `function`, their names, `call(a, b)` of tensors and numbers, `value(a, b)`, and `rows`.
template <class D>
struct ComparisonTest : OpTest {
  static constexpr Input input = Input::compared;
  static constexpr Row rows[] = {predicates};
  static constexpr Tensor of_tensors(Tensor a, Tensor b) { return D::call(a, b); }

  static void meanings(auto& m) { m.binary(D::op, D::value); }
  static constexpr void fixtures(const auto& c) {
    for (const Row& row : D::rows) c.add(row.program, D::function, of_tensors);
  }
  static constexpr void shapes(const auto& s) {
    s.result(bools(8, 3), of_tensors, f32(8, 1), f32(3));
    s.result(bools(3), [](Tensor x) { return D::call(2, x); }, i32(3));
    s.error(tw::text(D::op, ": (2,) float32 and (2,) int32: equal dtypes expected, in graph").view(), of_tensors, f32(2), i32(2));
    s.error(tw::text(D::op, ": (2,) and (3,): shapes that broadcast expected, in graph").view(), of_tensors, f32(2), f32(3));
  }
  static void numbers(auto& list) {
    const std::string function(D::function);
    list.real(function + ".a", list.everything, [](auto& s, auto n) { return D::call(n, s.x); });
    list.real(function + ".b", list.everything, [](auto& s, auto n) { return D::call(s.x, n); });
  }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)of_tensors(Tensor(), Tensor()); });
  }
};

struct Equal : ComparisonTest<Equal> {
  static constexpr std::string_view op = "Equal", function = "equal";
  static constexpr Row rows[] = {predicates, integers};
  static constexpr Tensor call(auto a, auto b) { return ops::equal(a, b); }
  static bool value(double a, double b) { return a == b; }
  static constexpr void compared(In<predicates>, const auto& c) {
    c.add_forward("equal_transposed", [](Tensor a, Tensor b) { return ops::equal(a, b.T()); }, f32(3, 4), f32(4, 3));
  }
};
struct NotEqual : ComparisonTest<NotEqual> {
  static constexpr std::string_view op = "NotEqual", function = "not_equal";
  static constexpr Tensor call(auto a, auto b) { return ops::not_equal(a, b); }
  static bool value(double a, double b) { return a != b; }
};
struct Greater : ComparisonTest<Greater> {
  static constexpr std::string_view op = "Greater", function = "greater";
  static constexpr Row rows[] = {predicates, integers};
  static constexpr Tensor call(auto a, auto b) { return ops::greater(a, b); }
  static bool value(double a, double b) { return a > b; }
  static constexpr void compared(In<predicates>, const auto& c) {
    c.add_forward("greater_number", [](Tensor a) { return ops::greater(a, 0.5); }, f32(5, 11));
    c.add_forward("number_greater", [](Tensor a) { return ops::greater(0.5, a); }, f32(5, 11));
    c.add_forward("bools_ordered", [](Tensor a, Tensor b) { return ops::greater(a, b); }, bools(3, 19), bools(3, 19));
  }
};
struct GreaterEqual : ComparisonTest<GreaterEqual> {
  static constexpr std::string_view op = "GreaterEqual", function = "greater_equal";
  static constexpr Tensor call(auto a, auto b) { return ops::greater_equal(a, b); }
  static bool value(double a, double b) { return a >= b; }
};
struct Less : ComparisonTest<Less> {
  static constexpr std::string_view op = "Less", function = "less";
  static constexpr Tensor call(auto a, auto b) { return ops::less(a, b); }
  static bool value(double a, double b) { return a < b; }
};
struct LessEqual : ComparisonTest<LessEqual> {
  static constexpr std::string_view op = "LessEqual", function = "less_equal";
  static constexpr Tensor call(auto a, auto b) { return ops::less_equal(a, b); }
  static bool value(double a, double b) { return a <= b; }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add_forward("view_less_equal", [](Tensor a, Tensor b) { return ops::less_equal(a.T(), b[back]); }, f32(19, 5), f32(5, 19));
  }
  static constexpr void compared(In<few_elements>, const auto& c) {
    c.add_forward("less_equal", of_tensors, i32(c.shape), i32(c.shape));
  }
  static constexpr void compared(In<few_outer>, const auto& c) {
    c.add_forward("outer_less_equal", of_tensors, i32(4, 1), i32(1, 7));
  }
};

}  // namespace op_tests
