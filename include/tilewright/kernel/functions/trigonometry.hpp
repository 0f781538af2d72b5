#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

namespace detail {
/// Returns sin(x + quarter pi / 2). With k = x / (pi / 2) to the nearest and r = x - k pi / 2, it is sin(r) for even k + quarter,
/// otherwise cos(r), with its sign. pi / 2 is in four parts, the first three with so few bits that k times them is exact. The
/// polynomials have the smallest maximal relative errors, 2^-28 and 2^-33, of those that begin with r and with 1 - r^2 / 2
/// (fitted for this file by weighted least squares). Beyond 2^13 quarters of a turn, the standard library's functions are used.
template <int quarter, Float32 X>
inline X sin_of_quarter(X x) {
  const X size = math::abs(x);
  const X limited = math::select(size < number<X>(12800), x, number<X>(0));
  constexpr double shift = 0x1.8p23;
  const X shifted = math::fma(limited, number<X>(0x1.45f306p-1), number<X>(shift)), k = shifted - number<X>(shift);
  X r = math::fma(k, number<X>(-0x1.92p+0), limited);
  r = math::fma(k, number<X>(-0x1.fb4p-12), r);
  r = math::fma(k, number<X>(-0x1.444p-24), r);
  r = math::fma(k, number<X>(-0x1.68c234p-39), r);
  const X rr = r * r;
  const X sine = math::fma(r * rr, polynomial(rr, -0x1.555546p-3, 0x1.110736p-7, -0x1.99422cp-13), r);
  const X cosine = math::fma(rr * rr, polynomial(rr, 0x1.55554ap-5, -0x1.6c0c2ep-10, 0x1.99e9f0p-16),
                             math::fma(rr, number<X>(-0.5), number<X>(1)));
  const auto turns = to_bits(shifted) + quarter;  // its last bits are those of k + quarter
  const X is_odd = from_bits<X>((turns & 1) * 0x3f800000);  // 1 or 0
  const X result = math::select(is_odd > number<X>(0), cosine, sine);
  const X with_sign = from_bits<X>(to_bits(result) ^ ((turns & 2) << 30));
  return where_special(
      !(size < number<X>(12800)), with_sign, [](float y) { return quarter == 0 ? std::sin(y) : std::cos(y); }, x);
}
}  // namespace detail

template <class X>
inline X sin(X x) {
  if constexpr (std::same_as<X, double>) return std::sin(x);
  else return detail::sin_of_quarter<0>(x);
}
template <class X>
inline X cos(X x) {
  if constexpr (std::same_as<X, double>) return std::cos(x);
  else return detail::sin_of_quarter<1>(x);
}

}  // namespace tilewright::math
