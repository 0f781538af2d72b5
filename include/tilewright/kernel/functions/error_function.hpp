#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/functions/normal_cdf.hpp"

namespace tilewright::math {

namespace detail {
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
