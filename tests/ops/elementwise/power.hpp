#pragma once
#include "binary.hpp"

namespace op_tests {

/// Of integers e times a product, of which 64 bits are kept.
inline double power(double x, double e, DType dtype) {
  if (!tw::is_int(dtype)) return std::pow(x, e);
  if (e < 0) return x == 1 ? 1 : x == -1 ? (std::fmod(e, 2) == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1;
  for (double i = 0; i < e; ++i) result *= static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return static_cast<double>(static_cast<std::int64_t>(result));
}

struct PowNumber : OpTest {
  static constexpr std::string_view op = "PowNumber";
  static constexpr Input input = Input::real;
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, const auto& inputs, const auto& x) {
      return power(x[0], tw::unpack<tw::PowNumber::Attributes>(node.attributes).exponent, inputs[0].spec.dtype);
    });
  }
  static constexpr Tensor square(Tensor x) { return ops::pow(x, 2); }
  static constexpr Tensor cube(Tensor x) { return ops::pow(x, 3); }
  static constexpr Tensor root(Tensor x) { return ops::pow(x, 0.5); }
  static constexpr void fixtures(const auto& c) {
    c.add(powers, "square", square);
    c.add(powers, "cube", cube);
    c.add(powers, "power_of_4", [](Tensor x) { return ops::pow(x, 4); });
    c.add(powers, "power_of_0", [](Tensor x) { return ops::pow(x, 0); });
    c.add(powers, "inverse", [](Tensor x) { return ops::pow(x, -1); });
    c.add(powers, "root", root, {3, 19});
    c.add(powers, "power_of_number_e", [](Tensor x) { return ops::pow(x, -1.75); }, {3, 19});
    c.add(steps, "power_at_zero", cube, {3});
    c.add(exact, "power", cube);
    c.add(narrow_integers, "cube", cube);
  }
  static constexpr void edges(const auto& c) {
    c.add("cube", cube, c.real({8}));
    c.add("square", square, c.real({8}));
    c.add("inverse_root", [](Tensor x) { return ops::pow(x, -0.5); }, c.real({8}));
    c.add("power_of_half", root, c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "PowNumber: exponent -1 for a base of int32: 0 or more expected, in graph", [](Tensor x) { return ops::pow(x, -1); },
        i32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    const double bound = x.bound(), most = bound * bound * larger(1, bound);
    if (!gradients && random.one_in(4)) return Step{ops::pow(x.tensor, 1), x.elements};
    if (!x.elements.positive() || random.one_in(3)) return Step{ops::pow(x.tensor, 2 + random.below(2)), {-most, most}};
    if (random.one_in(3)) return Step{root(x.tensor), {0.25, bound + 1}};
    const double exponents[] = {-0.5, -1, -2, 1.5, 0};
    return Step{ops::pow(x.tensor, exponents[random.below(5)]), {0, larger(256, bound * (bound + 1))}};
  }
  static void numbers(auto& list) {
    list.real("pow.e", list.as_float32, [](auto& s, auto n) { return ops::pow(s.x, n); });
  }
  static constexpr void handles(auto& list) {
    list.add("pow", [] { (void)ops::pow(Tensor(), 1); });
  }
  /// Of zeros, infinities and NaN.
  static constexpr auto powers_of = [](Tensor x) {
    std::array<Tensor, 18> results;
    for (std::size_t i = 0; i < 9; ++i) {
      constexpr double exponents[] = {0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5};
      results[i] = ops::pow(x, exponents[i]);
      results[i + 9] = 1 / results[i];
    }
    return results;
  };
  static constexpr void compared(In<without_steps>, const auto& c) { c.add_forward("powers_of_special", powers_of, f32(12)); }
  static constexpr void compared(In<doubles_without_steps>, const auto& c) {
    c.add_forward("double_powers_of_special", powers_of, f64(12));
  }
};

struct Pow : BinaryTest<Pow> {
  static constexpr std::string_view op = "Pow", function = "pow";
  static constexpr Row rows[] = {{powers, {3, 19}, {3, 19}},
                                 {powers, {5, 1}, {19}, "pow_row"},
                                 {steps, {5}, {5}, "pow_at_zero"},
                                 {smooth_precision_of_two, {3, 19}, {3, 19}},
                                 exact,
                                 {at_edges, {4}, {4}},
                                 narrow_integers};
  static constexpr Tensor call(auto a, auto b) { return ops::pow(a, b); }
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node&, const auto& inputs, const auto& x) { return power(x[0], x[1], inputs[0].spec.dtype); });
  }
  static constexpr void fixtures(const auto& c) {
    BinaryTest::fixtures(c);
    c.add(powers, "power_of_number", [](Tensor x) { return ops::pow(2.5, x); });
  }
  static constexpr void edges(const auto& c) {
    BinaryTest::edges(c);
    c.add("pow_row", of_tensors, c.real({3, 4}), c.real({4}));
  }
  static constexpr void shapes(const auto& s) {
    BinaryTest::shapes(s);
    s.result(f32(2), [](Tensor x) { return ops::pow(2, x); }, f32(2));
  }
  static constexpr std::optional<Step> random_of_two(const Known& a, const Known& b, Random& random, bool) {
    if (b.bound() > 2) return std::nullopt;
    if (random.one_in(3)) return Step{ops::pow(2.5, b.tensor), {0, 7}};
    const double most = larger(16, a.bound());
    return a.elements.positive() ? std::optional(Step{ops::pow(a.tensor, b.tensor), {0, most * most}}) : std::nullopt;
  }
  static void numbers(auto& list) {
    list.real("pow.x", list.everything, [](auto& s, auto n) { return ops::pow(n, s.x); });
  }
  static constexpr void compared(In<second_of_functions>, const auto& c) {
    c.add("pow", [](Tensor x, Tensor e) { return ops::pow(x, e); }, f64(2, 3), f64(3));
  }
};

}  // namespace op_tests
