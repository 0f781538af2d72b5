#pragma once
#include "op_test.hpp"

namespace op_tests {

struct Floor : StepTest<Floor> {
  static constexpr std::string_view op = "Floor", function = "floor";
  static constexpr Tensor call(Tensor x) { return ops::floor(x); }
  static double value(double x) { return std::floor(x); }
};

}  // namespace op_tests
