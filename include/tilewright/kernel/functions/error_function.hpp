#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/functions/normal_cdf.hpp"

namespace tilewright::math {

namespace detail {
inline constexpr double two_over_sqrt_pi = 1.1283791670955126;

/// Near 0 it is a product, which no smaller term makes denormal. Up to 1 it is x + x P(x^2), beyond it 1 - erfc(x) with erfc(x) =
/// exp(-x^2) R(x), where R is a polynomial of q = (x - 2) / (x + 2) for x up to 6. Both have the smallest maximal error, 2^-62 of
/// P and 2^-60 of erfc(x) (fitted for this file by Remez's algorithm).
inline double erf_of_double(double x) {
  const double size = std::fabs(x), square = x * x;
  if (!(size < 6)) return x != x ? x : std::copysign(1.0, x);
  if (size < 0x1p-28) return x * two_over_sqrt_pi;
  if (size < 1)
    return x + x * series(square, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4, -0x1.b82ce31284f38p-6,
                          0x1.565bcd0dbd921p-8, -0x1.c02db3db49762p-11, 0x1.f9a321e4b84f9p-14, -0x1.f4d1e434bc0cfp-17,
                          0x1.b9df305cad6f7p-20, -0x1.5f1f40faeea79p-23, 0x1.f7b99d7c8709ap-27, -0x1.38ac2290d3965p-30,
                          0x1.062759c5be8ecp-34);
  const double r = series((size - 2) / (size + 2), 0x1.058671b52c776p-2, -0x1.b57034efd3f56p-2, 0x1.eeea7dc8a790ep-3,
                          -0x1.437f0b68ccc61p-4, 0x1.e947158ad629bp-9, 0x1.ca95ed863f3a7p-8, -0x1.bc258dbdaba04p-11,
                          -0x1.016b535d10162p-10, 0x1.6d3533a3cb5eep-15, 0x1.6d825e26c25c9p-13, 0x1.cf6f2d252d8c3p-16,
                          -0x1.be7a0312f91a8p-16, -0x1.a84732c1c5dafp-17);
  return std::copysign(1 - exp_of_double(-square) * r, x);
}
/// Up to 1 the same polynomial with 7 terms and an error of 2^-29; beyond it 1 - 2 P(-sqrt(2) x) of the normal distribution P.
template <Float32 X>
inline X erf_of_float(X x) {
  const X size = math::abs(x), square = x * x;
  const X p = polynomial(square, 0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2d2p-4, -0x1.b7fbb6p-6, 0x1.5419fap-8, -0x1.a485f8p-11,
                         0x1.4ae4c6p-14);
  const X beyond = math::normal_cdf(size * number<X>(-1.4142135623730951));
  const X large = math::fma(number<X>(-2), beyond, number<X>(1));
  const X near_zero = math::select(size < number<X>(0x1p-13), x * number<X>(two_over_sqrt_pi), math::fma(x, p, x));
  return math::select(size < number<X>(1), near_zero, math::select(x > number<X>(0), large, -large));
}
}  // namespace detail

template <class X>
inline X erf(X x) {
  if constexpr (std::same_as<X, double>) return detail::erf_of_double(x);
  else return detail::erf_of_float(x);
}
/// The rest of x^2 that its rounded number does not hold is a factor.
template <class X>
inline X gaussian(X x) {
  if constexpr (std::same_as<X, double>) {
    if (!(std::fabs(x) < 27)) return x != x ? x : 0;
    const auto square = detail::exact_product(x, x);
    return detail::exp_of_double(-square.nearest, -square.rest);
  } else {
    const X size = (math::min)(number<X>(14), math::abs(x)), square = size * size, rest = math::fma(size, size, -square);
    const X rounded = math::exp(-square);
    return math::fma(-rounded, rest, rounded);
  }
}

}  // namespace tilewright::math
