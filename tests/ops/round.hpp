#pragma once
#include "op_test.hpp"

namespace op_tests {

struct Round : StepTest<Round> {
  static constexpr std::string_view op = "Round", function = "round";
  static constexpr Tensor call(Tensor x) { return ops::round(x); }
  static double value(double x) { return std::nearbyint(x); }
};

}  // namespace op_tests
