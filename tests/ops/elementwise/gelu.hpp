#pragma once
#include "../op_test.hpp"

namespace op_tests {

template <class D>
struct GeluTest : FunctionTest<D> {
  static void meanings(auto& m) {
    m.unary(D::op, D::value);
    m.unary(D::slope_op, D::slope);
  }
  static constexpr Result elements(const Elements& x) { return {{-0.2, larger(x.high, 0)}}; }
};
struct Gelu : GeluTest<Gelu> {
  static constexpr std::string_view op = "Gelu", slope_op = "GeluSlope", function = "gelu";
  static constexpr Row rows[] = {float32, half, floats, precision, at_edges, in_place_of_input};
  static constexpr Function call = ops::gelu, in_place = ops::gelu_;
  static double tanh(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
  static double value(double x) { return 0.5 * x * (1 + tanh(x)); }
  static double slope(double x) {
    const double t = tanh(x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  }
};
struct GeluErf : GeluTest<GeluErf> {
  static constexpr std::string_view op = "GeluErf", slope_op = "GeluErfSlope", function = "geluerf";
  static constexpr Row rows[] = {functions, exact, at_edges, in_place_of_input};
  static constexpr Function call = ops::geluerf, in_place = ops::geluerf_;
  static double value(double x) { return 0.5 * x * (1 + std::erf(x / M_SQRT2)); }
  static double slope(double x) { return 0.5 * (1 + std::erf(x / M_SQRT2)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
};

}  // namespace op_tests
