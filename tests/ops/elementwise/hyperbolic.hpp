#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Sinh : SmoothTest<Sinh> {
  using Op = tw::Sinh;
  static constexpr std::string_view op = "Sinh", function = "sinh";
  static constexpr Tensor call(Tensor x) { return ops::sinh(x); }
  static double value(double x) { return std::sinh(x); }
  static double slope(double x) { return std::cosh(x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 2) return std::nullopt;
    return Step{call(x.tensor), {-3.7, 3.7}};
  }
};

struct Cosh : SmoothTest<Cosh> {
  using Op = tw::Cosh;
  static constexpr std::string_view op = "Cosh", function = "cosh";
  static constexpr Tensor call(Tensor x) { return ops::cosh(x); }
  static double value(double x) { return std::cosh(x); }
  static double slope(double x) { return std::sinh(x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 2) return std::nullopt;
    return Step{call(x.tensor), {1, 3.8}};
  }
};

struct Erf : SmoothTest<Erf> {
  using Op = tw::Erf;
  static constexpr std::string_view op = "Erf", function = "erf";
  static constexpr Tensor call(Tensor x) { return ops::erf(x); }
  static double value(double x) { return std::erf(x); }
  static double slope(double x) { return std::exp(-x * x) * M_2_SQRTPI; }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real()) return std::nullopt;
    return Step{call(x.tensor), {-1, 1}};
  }
};

struct Expm1 : SmoothTest<Expm1> {
  using Op = tw::Expm1;
  static constexpr std::string_view op = "Expm1", function = "expm1";
  static constexpr Tensor call(Tensor x) { return ops::expm1(x); }
  static double value(double x) { return std::expm1(x); }
  static double slope(double x) { return std::exp(x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 2) return std::nullopt;
    return Step{call(x.tensor), {-0.9, 6.4}};
  }
};

struct Log1p : SmoothTest<Log1p> {
  using Op = tw::Log1p;
  static constexpr std::string_view op = "Log1p", function = "log1p";
  static constexpr Tensor call(Tensor x) { return ops::log1p(x); }
  static constexpr Tensor inside(Tensor x) { return ops::abs(x); }
  static double value(double x) { return std::log1p(x); }
  static double slope(double x) { return 1 / (1 + x); }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || x.bound() > 2) return std::nullopt;
    return Step{call(x.tensor * 0.25), {-0.7, 0.5}};
  }
};

struct Rsqrt : SmoothTest<Rsqrt> {
  using Op = tw::Rsqrt;
  static constexpr std::string_view op = "Rsqrt", function = "rsqrt";
  static constexpr Tensor call(Tensor x) { return ops::rsqrt(x); }
  static constexpr Tensor inside(Tensor x) { return ops::abs(x) + 2; }
  static double value(double x) { return 1 / std::sqrt(x); }
  static double slope(double x) { return bend(value(x)); }
  static double bend(double y) { return -0.5 * y * y * y; }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    if (!x.is_real() || !x.elements.positive()) return std::nullopt;
    return Step{call(x.tensor), {0, 4}};
  }
};

}  // namespace op_tests
