#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "tilewright/core/fused.hpp"

/// Functions of doubles without the C library, whose results differ in bits from one library to another. Results below 2^-1022
/// are 0.
namespace tilewright::math {
namespace detail {

using tilewright::detail::exact_product;
using tilewright::detail::exact_sum;
using tilewright::detail::ExactPair;

inline constexpr double infinity64 = std::numeric_limits<double>::infinity(), nan64 = std::numeric_limits<double>::quiet_NaN();
/// ln 2 in two parts, the first with so few bits that the product with an exponent is exact.
inline constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/// Returns 2^k, for k from -1022 to 1023.
inline double power_of_two(std::int64_t k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

/// Returns coefficients[0] + coefficients[1] x + ..., by Horner's rule.
template <std::same_as<double>... C>
inline double series(double x, double first, C... rest) {
  if constexpr (sizeof...(C) == 0) return first;
  else return first + x * series(x, rest...);
}

/// exp(x + rest) = 2^k (1 + excess), with k the nearest integer to x / ln 2: `excess` is in [-0.3, 0.42], by the series of exp.
struct ReducedExp {
  std::int64_t k;
  double excess;
};
inline ReducedExp reduced_exp(double x, double rest = 0) {
  constexpr double shift = 0x1.8p52;
  const double k = (x * 0x1.71547652b82fep+0 + shift) - shift, high = x - k * ln2_high, low = k * ln2_low - rest;
  const double r = high - low, lost = (high - r) - low;
  const double tail = series(r, 1 / 2., 1 / 6., 1 / 24., 1 / 120., 1 / 720., 1 / 5040., 1 / 40320., 1 / 362880., 1 / 3628800.,
                             1 / 39916800., 1 / 479001600., 1 / 6227020800.);
  return {static_cast<std::int64_t>(k), r + (lost + r * r * tail)};
}
/// Returns exp(x + rest), with an error of at most 1 ulp.
inline double exp_of_double(double x, double rest = 0) {
  if (!(x < 709.8)) return x != x ? x : infinity64;
  if (x < -708.3964185322641) return 0;
  const auto [k, excess] = reduced_exp(x, rest);
  const double result = 1 + excess;
  return k > 1023 ? result * 2 * power_of_two(k - 1) : result * power_of_two(k);
}

/// A positive, normal number as 2^k (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)].
struct ReducedLog {
  double k, f;
};
inline ReducedLog reduced_log(double x) {
  constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto k = static_cast<std::int64_t>(bits - sqrt_half) >> 52;
  return {static_cast<double>(k), std::bit_cast<double>(bits - (static_cast<std::uint64_t>(k) << 52)) - 1};
}
/// Returns the part of 2 atanh(s) / s above `terms` terms of its series, divided by ss = s^2 to the power of `terms`.
inline double atanh_rest(double ss) {
  return series(ss, 2 / 5., 2 / 7., 2 / 9., 2 / 11., 2 / 13., 2 / 15., 2 / 17., 2 / 19., 2 / 21., 2 / 23., 2 / 25.);
}
/// Returns k ln 2 + log(1 + f), for f of a reduced logarithm: log(1 + f) = 2 atanh(s) with s = f / (2 + f).
inline double log_of_parts(double k, double f) {
  const double s = f / (2 + f), ss = s * s, rest = ss * (2 / 3. + ss * atanh_rest(ss)), square = 0.5 * f * f;
  // 2 s = f - s f, and s f = f^2 / 2 - s f^2 / 2
  return k * ln2_high - ((square - (s * (square + rest) + k * ln2_low)) - f);
}
/// Returns log(x), with an error of at most 1 ulp; denormal numbers are 0.
inline double log_of_double(double x) {
  if (!(x < infinity64)) return x;
  if (!(x >= 0x1p-1022)) return x < 0 && x <= -0x1p-1022 ? nan64 : -infinity64;
  const auto [k, f] = reduced_log(x);
  return log_of_parts(k, f);
}
/// Returns log(1 + f), for f of a reduced logarithm, with a relative error of about 2^-65.
inline ExactPair log_pair(double f) {
  const ExactPair d = exact_sum(2, f);
  const double s = f / d.nearest;
  const ExactPair product = exact_product(s, d.nearest);
  const double s_rest = ((f - product.nearest) - product.rest - s * d.rest) / d.nearest;
  // 2/3 s^3 in pairs, the other terms in single numbers
  const ExactPair ss = exact_product(s, s), cube = exact_product(ss.nearest, s);
  const double cube_rest = cube.rest + ss.rest * s + 3 * ss.nearest * s_rest;
  constexpr double third = 2 / 3., third_rest = 0x1.5555555555555p-55;  // of 2/3
  const ExactPair of_cube = exact_product(third, cube.nearest);
  const double correction = of_cube.rest + third * cube_rest + third_rest * cube.nearest +
                            ss.nearest * cube.nearest * atanh_rest(ss.nearest);
  const ExactPair sum = exact_sum(2 * s, of_cube.nearest);
  const double rest = sum.rest + correction + 2 * s_rest;
  return exact_sum(sum.nearest, rest);
}
/// Returns the logarithm to the base 2, with an error of at most 1 ulp.
inline double log2_of_double(double x) {
  if (!(x < infinity64) || !(x >= 0x1p-1022)) return log_of_double(x);
  const auto [k, f] = reduced_log(x);
  const ExactPair log = log_pair(f);
  constexpr double factor = 0x1.71547652b82fep+0, factor_rest = 0x1.777d0ffda0d24p-56;  // 1 / ln 2
  const ExactPair high = exact_product(log.nearest, factor), sum = exact_sum(k, high.nearest);
  return sum.nearest + (sum.rest + high.rest + log.rest * factor + log.nearest * factor_rest);
}
/// Returns x to the power of y for positive numbers, with an error of at most 1 ulp.
inline double power_of_positive(double x, double y) {
  const auto [k, f] = reduced_log(x);
  const ExactPair log = log_pair(f), sum = exact_sum(k * ln2_high, log.nearest), with_low = exact_sum(sum.nearest, k * ln2_low);
  const double rest = with_low.rest + sum.rest + log.rest + k * -0x1.12f2f92e8e5fep-87;  // of ln 2
  const ExactPair whole = exact_sum(with_low.nearest, rest);
  const double exponent = y * whole.nearest;
  if (!(exponent < 709.8)) return infinity64;
  if (exponent < -708.4) return 0;
  const ExactPair product = exact_product(y, whole.nearest);
  return exp_of_double(product.nearest, product.rest + y * whole.rest);
}
/// Returns x to the power of y. Special cases are those of C's pow; denormal numbers are 0.
inline double power_of_double(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const double size = std::fabs(x) < 0x1p-1022 ? 0 : std::fabs(x), half = std::trunc(y * 0.5) * 2;
  if (std::fabs(y) < 0x1p-1022) return 1;
  const bool is_whole = std::trunc(y) == y, is_odd = is_whole && half != y, is_negative = std::signbit(x);
  if (is_negative && size > 0 && size < infinity64 && !is_whole) return nan64;
  double result = 0;
  if (size == 1) result = 1;
  else if (std::fabs(y) == infinity64 || size == 0 || size == infinity64) result = (size > 1) == (y > 0) ? infinity64 : 0;
  else result = power_of_positive(size, y);
  return is_negative && is_odd ? -result : result;
}

/// Returns C's fmod(a, b), which is exact. The quotient is found in integers, up to 11 bits at a time.
inline double fmod_of_double(double a, double b) {
  const double size = std::fabs(a), divisor = std::fabs(b);
  if (!(size < infinity64) || !(divisor >= 0x1p-1022)) return nan64;
  if (size < divisor) return a;
  constexpr std::uint64_t one = std::uint64_t{1} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(size), bits_of_divisor = std::bit_cast<std::uint64_t>(divisor);
  const std::uint64_t m = (bits_of_divisor & (one - 1)) | one;
  std::uint64_t rest = ((bits & (one - 1)) | one) % m;
  for (auto left = static_cast<int>((bits >> 52) - (bits_of_divisor >> 52)); left > 0; left -= 11)
    rest = (rest << (left < 11 ? left : 11)) % m;
  const double result = static_cast<double>(rest) * 0x1p-52 *
                        power_of_two(static_cast<std::int64_t>(bits_of_divisor >> 52) - 1023);
  return std::copysign(result < 0x1p-1022 ? 0 : result, a);
}
/// Returns tanh(x), with an error of at most 3 ulp: e / (e + 2) with e = exp(2 |x|) - 1, and with the sign of x.
inline double tanh_of_double(double x) {
  const double size = std::fabs(x);
  if (!(size < 22)) return x != x ? x : std::copysign(1.0, x);
  const auto [k, excess] = reduced_exp(2 * size);
  const double power = power_of_two(k), e = power * excess + (power - 1);
  return std::copysign(e / (e + 2), x);
}

}  // namespace detail
}  // namespace tilewright::math
