#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Sigmoid : FunctionTest<Sigmoid> {
  static constexpr std::string_view op = "Sigmoid", function = "sigmoid";
  static constexpr Row rows[] = {functions, floats, precision, at_edges, in_place_of_product};
  static constexpr Function call = ops::sigmoid, in_place = ops::sigmoid_;
  static double value(double x) { return 1 / (1 + std::exp(-x)); }
  static constexpr Result elements(const Elements& x) { return {{x.low > -2.7 ? 0.0625 : 0, 1}}; }
};
struct Swish : FunctionTest<Swish> {
  static constexpr std::string_view op = "Swish", function = "swish";
  static constexpr Row rows[] = {functions, exact, at_edges, {special, {5}}, in_place_of_input};
  static constexpr Function call = ops::swish, in_place = ops::swish_;
  static double value(double x) { return x * Sigmoid::value(x); }
  static double slope(double x) { return Sigmoid::value(x) * (1 + x * (1 - Sigmoid::value(x))); }
  static void meanings(auto& m) {
    m.unary(op, value);
    m.unary("SwishSlope", slope);
  }
  static constexpr Result elements(const Elements& x) { return {{-0.3, larger(x.high, 0)}}; }
};
struct Tanh : FunctionTest<Tanh> {
  static constexpr std::string_view op = "Tanh", function = "tanh";
  static constexpr Row rows[] = {float32, floats, precision, at_edges, few_elements, in_place_of_product};
  static constexpr Function call = ops::tanh, in_place = ops::tanh_;
  static double value(double x) { return std::tanh(x); }
  static constexpr Result elements(const Elements&) { return {{-1, 1}}; }
  static void meanings(auto& m) {
    FunctionTest::meanings(m);
    m.binary("TanhGrad", [](double y, double dy) { return (1 - y * y) * dy; });
  }
};

}  // namespace op_tests
