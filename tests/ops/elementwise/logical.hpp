#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Of two tensors.
template <class D>
struct LogicalTest : OpTest {
  static void meanings(auto& m) { m.binary(D::op, D::value); }
  static constexpr void fixtures(const auto& c) { c.add(predicates, D::function, D::call); }
  static constexpr void shapes(const auto& s) { s.result(bools(2, 3), D::call, f32(2, 1), i32(3)); }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)D::call(Tensor(), Tensor()); });
  }
};
struct And : LogicalTest<And> {
  static constexpr std::string_view op = "And", function = "logical_and";
  static constexpr Function2 call = ops::logical_and;
  static bool value(double a, double b) { return a != 0 && b != 0; }
};
struct Or : LogicalTest<Or> {
  static constexpr std::string_view op = "Or", function = "logical_or";
  static constexpr Function2 call = ops::logical_or;
  static bool value(double a, double b) { return a != 0 || b != 0; }
};
struct Not : UnaryTest<Not> {
  static constexpr std::string_view op = "Not", function = "logical_not";
  static constexpr bool has_cases = false;
  static constexpr Row rows[] = {predicates};
  static constexpr Function call = ops::logical_not;
  static bool value(double x) { return x == 0; }
  static constexpr void cases(const auto&) {}
  static constexpr void edges(const auto&) {}
  static constexpr void shapes(const auto& s) { s.result(bools(2), call, i32(2)); }
};

}  // namespace op_tests
