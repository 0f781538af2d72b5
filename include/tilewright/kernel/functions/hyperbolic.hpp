#pragma once
#include <cmath>
#include <concepts>
#include <limits>

#include "tilewright/kernel/vector/rounding.hpp"

/// Exponentials and logarithms near 0 and 1, and hyperbolic functions.
namespace tilewright::math {

namespace detail {
/// Returns x where |x| is below a bound, so that 0 keeps its sign, otherwise `result`.
template <Float32 X>
inline X unless_small(X x, double bound, X result) {
  return math::select(math::abs(x) < number<X>(bound), x, result);
}

/// exp(x) - 1 = 2^k excess + (2^k - 1), here of k - 1, because 2^128 is no float.
template <Float32 X>
inline X expm1_of_float(X x) {
  const X limited = (math::max)(number<X>(-17.5), (math::min)(number<X>(88.8), x));  // beyond which it is -1, or infinity
  const auto parts = exp_parts<X>(limited);
  const X power = parts.power(-1u), half = math::fma(power, parts.excess, power - number<X>(0.5));
  return unless_small(x, 0x1p-25, half + half);
}
inline double expm1_of_double(double x) {
  if (!(x < 709.8)) return x != x ? x : infinity64;
  if (x < -38) return -1;
  if (std::fabs(x) < 0x1p-54) return x;
  const auto [k, excess] = reduced_exp(x);
  const double power = power_of_two(k - 1);
  return 2 * (power * excess + (power - 0.5));
}

/// log(1 + x) is the logarithm of u = 1 + x. The rounding error of u becomes a part of f. If k is 0, f is x.
template <Float32 X>
inline X log1p_of_float(X x) {
  constexpr std::uint32_t sqrt_half = 0x3f3504f3, bits_of_shift = 0x4b400000;  // of sqrt(1/2) and 1.5 2^23
  const X zero = number<X>(0), one = number<X>(1), infinity = number<X>(std::numeric_limits<float>::infinity());
  const auto [u, rest] = exact_sum_of_floats<X>(one, x);
  const auto exponent = exponent_of(to_bits(u) - sqrt_half);
  const X k = from_bits<X>(exponent + bits_of_shift) - number<X>(0x1.8p23), m = from_bits<X>(to_bits(u) - (exponent << 23));
  const X f = math::select(k == zero, x, (m - one) + math::divide(rest * m, u));
  const X nan = number<X>(std::numeric_limits<float>::quiet_NaN());
  const X result = math::select(u > zero, math::select(u < infinity, log_of_parts(k, f), x),
                                math::select(u == zero, -infinity, nan));
  return unless_small(x, 0x1p-25, result);
}
inline double log1p_of_double(double x) {
  if (!(x < infinity64)) return x;
  if (!(x > -1)) return x == -1 ? -infinity64 : nan64;
  if (std::fabs(x) < 0x1p-54) return x;
  const ExactPair u = exact_sum(1, x);
  const auto [k, f] = reduced_log(u.nearest);
  if (k == 0) return log_of_parts(0, x);
  return log_of_parts(k, k < 60 ? f + u.rest * power_of_two(-static_cast<std::int64_t>(k)) : f);
}

/// exp(x) / 4 and exp(-x) / 4 of a number from 0 to where exp(x) / 2 is infinite: neither overflows.
template <class X>
struct QuarterExps {
  X rising, falling;
};
template <class X>
inline QuarterExps<X> quarter_exps(X size) {
  X rising;
  if constexpr (std::same_as<X, double>) {
    const auto [k, excess] = reduced_exp(size < 710.5 ? size : 710.5);
    const double power = power_of_two(k - 2);
    rising = power + power * excess;
  } else {
    const auto parts = exp_parts<X>((math::min)(number<X>(89.5), size));
    const X power = parts.power(-2u);
    rising = math::fma(power, parts.excess, power);
  }
  return {rising, math::divide(number<X>(0.0625), rising)};
}
/// The polynomial for |x| < 1 has the smallest maximal relative error, 2^-34, of those that begin with x (fitted for this file by
/// Remez's algorithm); that of doubles is the series.
template <class X>
inline X sinh_of_small(X x) {
  const X square = x * x;
  if constexpr (std::same_as<X, double>) {
    return x + x * square *
                   series(square, 1 / 6., 1 / 120., 1 / 5040., 1 / 362880., 1 / 39916800., 1 / 6227020800., 1 / 1307674368000.,
                          1 / 355687428096000., 1 / 121645100408832000., 1 / 51090942171709440000.);
  } else {
    return math::fma(x * square, polynomial(square, 0x1.555556p-3, 0x1.111136p-7, 0x1.9ffe4p-13, 0x1.7a20eep-19), x);
  }
}
}  // namespace detail

template <class X>
inline X expm1(X x) {
  if constexpr (std::same_as<X, double>) return detail::expm1_of_double(x);
  else return detail::expm1_of_float(x);
}
template <class X>
inline X log1p(X x) {
  if constexpr (std::same_as<X, double>) return detail::log1p_of_double(x);
  else return detail::log1p_of_float(x);
}
template <class X>
inline X cosh(X x) {
  const auto [rising, falling] = detail::quarter_exps<X>(math::abs(x));
  const X half = rising + falling;
  return math::select(x == x, half + half, x);
}
template <class X>
inline X sinh(X x) {
  const X size = math::abs(x);
  const auto [rising, falling] = detail::quarter_exps<X>(size);
  const X half = rising - falling, large = math::select(x > number<X>(0), half + half, -(half + half));
  return math::select(x == x, math::select(size < number<X>(1), detail::sinh_of_small(x), large), x);
}

}  // namespace tilewright::math
