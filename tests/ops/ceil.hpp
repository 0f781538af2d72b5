#pragma once
#include "op_test.hpp"

namespace op_tests {

struct Ceil : StepTest<Ceil> {
  static constexpr std::string_view op = "Ceil", function = "ceil";
  static constexpr Tensor call(Tensor x) { return ops::ceil(x); }
  static double value(double x) { return std::ceil(x); }
};

}  // namespace op_tests
