#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Sin : FunctionTest<Sin> {
  static constexpr std::string_view op = "Sin", function = "sin";
  static constexpr Row rows[] = {functions, {functions, {}, "scalar"}, exact};
  static constexpr Function call = ops::sin;
  static double value(double x) { return std::sin(x); }
  static constexpr Result elements(const Elements&) { return {{-1, 1}}; }
  static void meanings(auto& m) {
    FunctionTest::meanings(m);
    m.binary("SinGrad", [](double x, double dy) { return std::cos(x) * dy; });
  }
};
struct Cos : FunctionTest<Cos> {
  static constexpr std::string_view op = "Cos", function = "cos";
  static constexpr Row rows[] = {functions, floats, precision};
  static constexpr Function call = ops::cos;
  static double value(double x) { return std::cos(x); }
  static constexpr Result elements(const Elements&) { return {{-1, 1}}; }
};

}  // namespace op_tests
