#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

/// For t = |x| it is exp(-t^2 / 2) R(t) below -t. R is a polynomial of q = (t - 3.5) / (t + 3.5) with the smallest maximal
/// relative error for t up to 14, 2^-29 (fitted for this file by weighted least squares). The rest of t^2 that a float does not
/// hold is a factor of exp.
template <class X>
inline NormalDistribution<X> normal_distribution(X x) {
  constexpr double peak = 0.3989422804014327;  // 1 / sqrt(2 pi)
  if constexpr (std::same_as<X, double>) {
    return {0.5 * std::erfc(x * -0.7071067811865476), std::exp(-0.5 * x * x) * peak};
  } else {
    const X t = (math::min)(number<X>(14), math::abs(x)), square = t * t, rest = math::fma(t, t, -square);
    const X q = math::divide(t - number<X>(3.5), t + number<X>(3.5));
    const X r = detail::polynomial(q, 0x1.b396fap-4, -0x1.7f4318p-3, 0x1.01c066p-3, -0x1.f8f35ap-5, 0x1.385f4ep-6,
                                   -0x1.9933bcp-10, -0x1.6a370ep-10, 0x1.9782bap-12, 0x1.1857bcp-13, -0x1.a60012p-15,
                                   -0x1.4d2bdep-16);
    const X rounded = math::exp(number<X>(-0.5) * square), power = math::fma(rounded * number<X>(-0.5), rest, rounded);
    const X beyond = power * r;
    const X below = math::select(x < number<X>(0), beyond, number<X>(1) - beyond);
    return {math::select(x == x, below, x), math::select(x == x, power * number<X>(peak), x)};
  }
}
}  // namespace tilewright::math
