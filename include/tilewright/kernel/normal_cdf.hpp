#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/rounding.hpp"

namespace tilewright::math {

/// The density of the standard normal distribution, exp(-x^2 / 2) / sqrt(2 pi).
template <class X>
inline X normal_density(X x) {
  return math::exp(number<X>(-0.5) * x * x) * number<X>(0.3989422804014327);
}

/// The part of the standard normal distribution below x: (1 + erf(x / sqrt(2))) / 2. Results that are small keep their digits:
/// at most 8 ulp off; below 2^-126 they are 0.
///
/// For t = |x| it is exp(-t^2 / 2) R(t) below -t. R is a polynomial of q = (t - 3.5) / (t + 3.5) with the least largest relative
/// error for t up to 14, 2^-29 (fitted for this file by weighted least squares). exp gets the rest of t^2 that a float does not
/// hold as a factor.
template <class X>
inline X normal_cdf(X x) {
  if constexpr (std::same_as<X, double>) {
    return 0.5 * std::erfc(x * -0.7071067811865476);
  } else {
    const X t = math::min(number<X>(14), math::abs(x)), square = t * t, rest = math::fma(t, t, -square);
    const X q = math::divide(t - number<X>(3.5), t + number<X>(3.5));
    const X r = detail::polynomial(q, 0x1.b396fap-4, -0x1.7f4318p-3, 0x1.01c066p-3, -0x1.f8f35ap-5, 0x1.385f4ep-6,
                                   -0x1.9933bcp-10, -0x1.6a370ep-10, 0x1.9782bap-12, 0x1.1857bcp-13, -0x1.a60012p-15,
                                   -0x1.4d2bdep-16);
    const X power = math::exp(number<X>(-0.5) * square);
    const X below = math::fma(power * number<X>(-0.5), rest, power) * r;
    const X result = math::select(x < number<X>(0), below, number<X>(1) - below);
    return math::select(x == x, result, x);
  }
}

}  // namespace tilewright::math
