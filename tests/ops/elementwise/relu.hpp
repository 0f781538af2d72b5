#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Relu : FunctionTest<Relu> {
  static constexpr std::string_view op = "Relu", function = "relu";
  static constexpr Input input = Input::kinked;
  static constexpr Row rows[] = {float32, floats, precision, in_place_of_product};
  static constexpr Function call = ops::relu, in_place = ops::relu_;
  static double value(double x) { return x < 0 ? 0 : x; }
  static constexpr Result elements(const Elements& x) { return {{0, larger(x.high, 0), x.grain, x.slope}}; }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    return x.is_real() ? FunctionTest::random(x, random, gradients) : std::nullopt;
  }
};
struct Softplus : FunctionTest<Softplus> {
  static constexpr std::string_view op = "Softplus", function = "softplus";
  static constexpr Row rows[] = {functions, floats, precision, {special, {7}}};
  static constexpr Function call = [](Tensor x) { return ops::softplus(x); };
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, const auto&, const auto& x) {
      const auto [beta, threshold] = tw::unpack<tw::Softplus::Attributes>(node.attributes);
      return beta * x[0] > threshold ? x[0] : std::log1p(std::exp(beta * x[0])) / beta;
    });
  }
  static constexpr void fixtures(const auto& c) {
    FunctionTest::fixtures(c);
    c.add(steps, "softplus_steep", [](Tensor x) { return ops::softplus(x, 8, 4); }, {2, 19});
  }
  static constexpr void shapes(const auto& s) {
    FunctionTest::shapes(s);
    s.error("Softplus: beta 0: a number above 0 expected, in graph", [](Tensor x) { return ops::softplus(x, 0); }, f32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    const double beta = random.one_in(2) ? 1 : 0.5 + random.below(3);
    // what is beyond the threshold stays as it is
    const double threshold = x.exact() && !gradients && random.one_in(2) ? 1 + random.below(2) : 20;
    return Step{ops::softplus(x.tensor, beta, threshold), {0, larger(x.elements.high, 0) + 1.5}};
  }
  static void numbers(auto& list) {
    list.real("softplus.beta", {0, 0x1p127, false, true}, [](auto& s, auto n) { return ops::softplus(s.x, n); });
    list.real("softplus.threshold", list.numbers, [](auto& s, auto n) { return ops::softplus(s.x, 1, n); });
  }
};

}  // namespace op_tests
