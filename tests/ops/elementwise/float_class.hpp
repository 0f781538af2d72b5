#pragma once
#include "../op_test.hpp"

namespace op_tests {

template <class D>
struct FloatClassTest : UnaryTest<D> {
  static constexpr Input input = Input::special;
  static constexpr bool has_cases = false;
  static constexpr Row rows[] = {predicates};
  static constexpr void cases(const auto&) {}
  static constexpr void edges(const auto&) {}
  static constexpr void shapes(const auto& s) {
    s.result(bools(2, 3), D::call, TensorSpec{{2, 3}, tw::float16});
    s.result(bools(2), D::call, i32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) { return Step{D::call(x.tensor), {}}; }
};
struct IsFinite : FloatClassTest<IsFinite> {
  static constexpr std::string_view op = "IsFinite", function = "isfinite";
  static constexpr Function call = ops::isfinite;
  static double value(double x) { return std::isfinite(x); }
};
struct IsInf : FloatClassTest<IsInf> {
  static constexpr std::string_view op = "IsInf", function = "isinf";
  static constexpr Function call = ops::isinf;
  static double value(double x) { return std::isinf(x); }
};
struct IsNaN : FloatClassTest<IsNaN> {
  static constexpr std::string_view op = "IsNaN", function = "isnan";
  static constexpr Function call = ops::isnan;
  static double value(double x) { return std::isnan(x); }
};

}  // namespace op_tests
