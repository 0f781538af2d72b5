#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Ceil : StepTest<Ceil> {
  static constexpr std::string_view op = "Ceil", function = "ceil";
  static constexpr Row rows[] = {steps, special, floats, precision_of_steps};
  static constexpr Function call = ops::ceil;
  static double value(double x) { return std::ceil(x); }
};
struct Floor : StepTest<Floor> {
  static constexpr std::string_view op = "Floor", function = "floor";
  static constexpr Row rows[] = {steps, floats, precision_of_steps};
  static constexpr Function call = ops::floor;
  static double value(double x) { return std::floor(x); }
};
struct Round : StepTest<Round> {
  static constexpr std::string_view op = "Round", function = "round";
  static constexpr Function call = ops::round;
  static double value(double x) { return std::nearbyint(x); }
};

}  // namespace op_tests
