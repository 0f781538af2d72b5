#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Identity : FunctionTest<Identity> {
  static constexpr std::string_view op = "Identity", function = "identity";
  static constexpr Takes takes = Takes::all;
  static constexpr Row rows[] = {{float32, {2, 3}}, precision};
  static constexpr Function call = [](Tensor x) { return ops::identity(x); };
  static double value(double x) { return x; }
  static constexpr Result elements(const Elements& x) { return x; }
};
struct Negate : FunctionTest<Negate> {
  static constexpr std::string_view op = "Neg", function = "negate";
  static constexpr Takes takes = Takes::numbers;
  static constexpr Row rows[] = {float32, floats, narrow_integers, numbers_of_int32};
  static constexpr Function call = ops::negate, in_place = ops::negate_;
  static double value(double x) { return -x; }
  static constexpr Result elements(const Elements& x) { return -x; }
};
struct Abs : FunctionTest<Abs> {
  static constexpr std::string_view op = "Abs", function = "abs";
  static constexpr Input input = Input::kinked;
  static constexpr Takes takes = Takes::numbers;
  static constexpr Row rows[] = {functions, {steps, {4}, "abs_at_zero"}, exact, integers};
  static constexpr Function call = ops::abs;
  static double value(double x) { return std::abs(x); }
  static constexpr Result elements(const Elements& x) { return {{0, x.bound(), x.grain, x.slope}}; }
};
struct Sign : FunctionTest<Sign> {
  static constexpr std::string_view op = "Sign", function = "sign";
  static constexpr Input input = Input::kinked;
  static constexpr Takes takes = Takes::numbers;
  static constexpr Row rows[] = {{functions, {3, 19}}, special, floats, precision_of_steps, integers};
  static constexpr Function call = ops::sign;
  static double value(double x) { return (x > 0) - (x < 0); }
  static constexpr Result elements(const Elements& x) { return x.exact() ? std::optional(Elements{-1, 1, 0, 0}) : std::nullopt; }
};

}  // namespace op_tests
