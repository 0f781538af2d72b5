#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/functions/trigonometry.hpp"

namespace tilewright::math {

namespace detail {
inline double tan_of_double(double x) {
  if (!(std::fabs(x) < infinity64)) return nan64;
  if (std::fabs(x) < 0x1p-27) return x;
  const auto [quarters, angle] = reduced_angle(x);
  const ExactPair sine = sine_of_reduced(angle), cosine = cosine_of_reduced(angle);
  const bool is_odd = quarters % 2 != 0;
  const ExactPair a = is_odd ? ExactPair{-cosine.nearest, -cosine.rest} : sine, b = is_odd ? sine : cosine;
  const double quotient = a.nearest / b.nearest;
  const ExactPair product = exact_product(quotient, b.nearest);
  return quotient + (((a.nearest - product.nearest) - product.rest) + (a.rest - quotient * b.rest)) / b.nearest;
}

/// With k and r = x - k pi / 2 as in sin_of_quarter, r in two parts, it is tan(r), or -1 / tan(r) for odd k. The polynomial has
/// the smallest maximal relative error, 2^-29, of those that begin with r (fitted for this file by Remez's algorithm).
template <Float32 X>
inline X tan_of_float(X x) {
  const X size = math::abs(x), zero = number<X>(0), one = number<X>(1);
  const X limited = math::select(size < number<X>(12800), x, zero);
  constexpr double shift = 0x1.8p23;
  const X shifted = math::fma(limited, number<X>(0x1.45f306p-1), number<X>(shift)), k = shifted - number<X>(shift);
  const auto times_k = [&](double part) { return math::fma(k, number<X>(-part), zero); };
  const auto [second, second_rest] = exact_sum_of_floats<X>(math::fma(k, number<X>(-0x1.92p+0), limited), times_k(0x1.fb4p-12));
  const auto [third, third_rest] = exact_sum_of_floats<X>(second, times_k(0x1.444p-24));
  const X low = math::fma(k, number<X>(-0x1.68c234p-39), second_rest + third_rest);
  const X r = third + low, r_rest = (third - r) + low, square = r * r;
  const X p = polynomial(square, 0x1.555562p-2, 0x1.110d48p-3, 0x1.baea5ep-5, 0x1.5c0d84p-6, 0x1.66865ap-7, -0x1.98f6bp-15,
                         0x1.236256p-8);
  const X of_r = math::fma(r * square, p, r), t = r + math::fma(r * square, p, r_rest * math::fma(of_r, of_r, one));
  const X is_odd = from_bits<X>((to_bits(shifted) & 1) * 0x3f800000);  // 1 or 0
  const X result = math::select(is_odd > zero, -math::divide(one, t), t);
  return where_special(
      !(size < number<X>(12800)), math::select(size < number<X>(0x1p-12), x, result),
      [](float y) { return static_cast<float>(tan_of_double(y)); }, x);
}
}  // namespace detail

template <class X>
inline X tan(X x) {
  if constexpr (std::same_as<X, double>) return detail::tan_of_double(x);
  else return detail::tan_of_float(x);
}

}  // namespace tilewright::math
