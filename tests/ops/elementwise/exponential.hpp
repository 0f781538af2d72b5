#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Exp : FunctionTest<Exp> {
  static constexpr std::string_view op = "Exp", function = "exp";
  static constexpr Row rows[] = {float32, floats, precision, {at_edges, {14}}, in_place_of_product};
  static constexpr Function call = ops::exp, in_place = ops::exp_;
  static double value(double x) { return std::exp(x); }
  static constexpr Result elements(const Elements& x) {
    if (x.bound() > 4) return std::nullopt;
    return Elements{x.low >= -2.7 ? 0.0625 : 0.01, x.high <= 2 ? 7.5 : 55};
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add("view_exp", [](Tensor t) { return ops::exp(t[{tw::all, every_second}]); }, f32(5, 38));
  }
  static void meanings(auto& m) {
    FunctionTest::meanings(m);
    m.binary("ExpGrad", [](double y, double dy) { return y * dy; });
  }
};
struct Log : FunctionTest<Log> {
  static constexpr std::string_view op = "Log", function = "log";
  static constexpr Input input = Input::positive;
  static constexpr Row rows[] = {float32, floats, precision};
  static constexpr Function call = ops::log;
  static double value(double x) { return std::log(x); }
  static constexpr Result elements(const Elements& x) { return {{-2.8, x.high}}; }
};
struct Log2 : FunctionTest<Log2> {
  static constexpr std::string_view op = "Log2", function = "log2";
  static constexpr Input input = Input::positive;
  static constexpr Row rows[] = {{functions, {3, 19}}, floats, precision};
  static constexpr Function call = ops::log2;
  static double value(double x) { return std::log2(x); }
  static constexpr Result elements(const Elements& x) { return {{-4, x.high}}; }
};
struct Sqrt : FunctionTest<Sqrt> {
  static constexpr std::string_view op = "Sqrt", function = "sqrt";
  static constexpr Input input = Input::positive;
  static constexpr Row rows[] = {float32, floats, precision, {at_edges, {5}}, in_place_of_product};
  static constexpr Function call = ops::sqrt, in_place = ops::sqrt_;
  static double value(double x) { return std::sqrt(x); }
  static constexpr Result elements(const Elements& x) {
    return x.positive() ? std::optional(Elements{0.25, x.high + 1}) : std::nullopt;
  }
};

}  // namespace op_tests
