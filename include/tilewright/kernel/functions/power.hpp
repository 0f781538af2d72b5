#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "tilewright/kernel/mask.hpp"
#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

namespace detail {
/// A number as an unevaluated sum of two floats.
template <class X>
struct FloatPair {
  X high, low;
};
/// Returns the logarithm of x to the base 2, for positive finite numbers, with a relative error of about 2^-33.
///
/// log2(x) = k + 2 / ln 2 atanh(s) with s = (m - 1) / (m + 1) and m in [sqrt(1/2), sqrt(2)]. atanh(s) = s + s^3 P(s^2) has the
/// smallest maximal error, 2^-37 (fitted for this file by weighted least squares); s and 2 / ln 2 are pairs.
template <Float32 X>
inline FloatPair<X> log2_pair(X x) {
  constexpr std::uint32_t sqrt_half = 0x3f3504f3, bits_of_shift = 0x4b400000;  // of sqrt(1/2) and 1.5 2^23
  const auto is_denormal = x < number<X>(0x1p-126);
  const X normal = math::select(is_denormal, x * number<X>(0x1p23), x);
  const auto exponent = exponent_of(to_bits(normal) - sqrt_half);
  const X k = from_bits<X>(exponent + bits_of_shift) - math::select(is_denormal, number<X>(0x1.8p23 + 23), number<X>(0x1.8p23));
  const X m = from_bits<X>(to_bits(normal) - (exponent << 23)), f = m - number<X>(1), d = m + number<X>(1);
  const X s = math::divide(f, d), d_rest = f - (d - number<X>(2));
  const X s_rest = math::divide(math::fma(-s, d_rest, math::fma(-s, d, f)), d), ss = s * s;
  const X p = polynomial(ss, 0x1.555554p-2, 0x1.999a7cp-3, 0x1.243858p-3, 0x1.e30a66p-4);
  const X factor = number<X>(0x1.715476p+1), tail = math::fma(s * ss, p, s_rest);
  const X high = math::fma(factor, s, number<X>(0));  // a product would be joined with the sum below, which is not the same
  const X low = math::fma(factor, s, -high) + math::fma(number<X>(0x1.4ae0cp-25), s, factor * tail);
  const X sum = k + high, rest = (k - sum) + high + low, result = sum + rest;
  return {result, rest - (result - sum)};
}
/// Returns 2 to the power of the sum of a pair; results below 2^-126 may be 0. The polynomial of 2^r has the smallest maximal
/// relative error, 2^-29 (fitted for this file by weighted least squares).
template <Float32 X>
inline X exp2_of_pair(X high, X low) {
  constexpr double shift = 0x1.8p23 + 127;
  const X limited = (math::max)(number<X>(-126.9), (math::min)(number<X>(128.25), high));  // then k is from -127 to 128
  const X shifted = limited + number<X>(shift), k = shifted - number<X>(shift);
  const X r = (limited - k) + low;
  const X p = polynomial(r, 1.0, 0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6aee6p-5, 0x1.3b2d50p-7, 0x1.5f3f3cp-10, 0x1.41fb3ap-13);
  const X power = from_bits<X>(to_bits((math::min)(shifted, number<X>(shift + 127))) << 23);  // 2^128 is no float
  return p * power * math::select(k > number<X>(127), number<X>(2), number<X>(1));
}
/// Returns x to the power of y, both integers, modulo 2 to the power of their bits. Negative powers are 0, except those of 1 and
/// -1.
template <std::integral T>
inline T power_of_integer(T x, T y) {
  if constexpr (std::signed_integral<T>)
    if (y < 0) return x == 1 ? T(1) : x == T(-1) ? (y % 2 == 0 ? T(1) : T(-1)) : T(0);
  T result = 1;
  for (; y > 0; y = static_cast<T>(y / 2)) {
    if (y % 2 != 0) result = math::multiply(result, x);
    x = math::multiply(x, x);
  }
  return result;
}
/// Returns x to the power of y as 2^(y log2(x)), with the product as a pair. Special cases are those of C's pow.
template <Float32 X>
inline X power_of_float(X x, X y) {
  const X zero = number<X>(0), one = number<X>(1), infinity = number<X>(std::numeric_limits<float>::infinity());
  const X size = math::abs(x);
  const auto is_infinite = size == infinity;
  const decltype(is_infinite) at_end = (size == zero) | is_infinite;
  const auto [high, low] = log2_pair(math::select(at_end, one, size));
  const X p = y * high, rest = math::fma(y, high, -p) + y * low;
  X result = exp2_of_pair(p, math::select(math::abs(p) < number<X>(256), rest, zero));
  result = math::select(at_end, math::select(math::not_equal(y < zero, is_infinite), infinity, zero), result);
  result = math::select(size == one, one, result);
  const X half = y * number<X>(0.5);
  const auto is_whole = math::floor(y) == y;
  const decltype(is_whole) is_odd = is_whole & math::not_equal(math::floor(half), half);
  const auto sign_if_odd = to_bits(math::select(is_odd, number<X>(-0.0), zero));
  result = from_bits<X>(to_bits(result) ^ (to_bits(x) & sign_if_odd));
  const auto is_negative = x <= -smallest_normal<X>();  // Clang asks the sign of x where it is compared with 0
  const decltype(is_negative) is_finite = math::less(size, infinity), is_fraction = math::not_equal(math::floor(y), y);
  result = math::select(is_negative & is_finite & is_fraction, number<X>(std::numeric_limits<float>::quiet_NaN()), result);
  result = math::select((x == x) & (y == y), result, x + y);
  return math::select((y == zero) | (x == one), one, result);
}
}  // namespace detail

template <class X>
inline X log2(X x) {
  if constexpr (std::same_as<X, double>) {
    return detail::log2_of_double(x);
  } else {
    const X zero = number<X>(0), infinity = number<X>(std::numeric_limits<float>::infinity());
    const X result = math::select(x < infinity, detail::log2_pair(x).high, x);
    const X nan = number<X>(std::numeric_limits<float>::quiet_NaN());
    return math::select(x > zero, result, math::select(x == zero, -infinity, nan));
  }
}
template <class X>
inline X pow(X x, X y) {
  if constexpr (std::integral<X>) return detail::power_of_integer(x, y);
  else if constexpr (std::same_as<X, double>) return detail::power_of_double(x, y);
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  else return detail::power_of_float(x, y);
#else
  else {
    const auto of_one = [](float a, float b) {
      return detail::without_denormals<float>([](float c, float d) { return static_cast<float>(detail::power_of_double(c, d)); },
                                              a, b);
    };
    return detail::where_special((x == x) | math::not_equal(x, x), x, of_one, x, y);
  }
#endif
}
namespace detail {
/// Returns x to the power of 1/2, or of -1/2 if `inverse`. C's pow differs from the square root for -0 and -infinity.
template <bool inverse, class X>
inline X root(X x) {
  const X infinity = number<X>(std::numeric_limits<float>::infinity()), y = math::sqrt(x + number<X>(0));  // -0 + 0 is 0
  if constexpr (inverse) return math::select(x == -infinity, number<X>(0), math::divide(number<X>(1), y));
  else return math::select(x == -infinity, infinity, y);
}
}  // namespace detail

template <class X>
inline X pow_by_number(X x, double exponent) {
  if constexpr (std::integral<X>) {
    X result = 1;
    for (auto left = static_cast<std::uint64_t>(exponent); left > 0; left /= 2) {
      if (left % 2 != 0) result = math::multiply(result, x);
      x = math::multiply(x, x);
    }
    return result;
  } else {
    if (exponent == 0) return number<X>(1);
    if (exponent == 1) return x;
    if (exponent == 2) return x * x;
    if (exponent == 3) return x * x * x;
    if (exponent == 0.5) return detail::root<false>(x);
    if (exponent == -0.5) return detail::root<true>(x);
    if (exponent == -1) return math::divide(number<X>(1), x);
    if (exponent == -2) return math::divide(number<X>(1), x * x);
    return math::pow(x, number<X>(exponent));
  }
}

}  // namespace tilewright::math
