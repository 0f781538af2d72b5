#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

namespace detail {
/// base - (v + rest) - v^3 P(v^2): an inverse function as a constant, and its series at v. The constant is 0, or larger than |v|,
/// and comes in two parts; P(v^2) is `p`.
template <class X>
inline X after_constant(X base, X base_rest, X v, X v_rest, X square, X p) {
  const X high = base - v, rest = (base - high) - v;
  return high + math::fma(-v * square, p, rest + (base_rest - v_rest));
}
/// pi / 2 in two parts.
template <class X>
inline constexpr double half_pi = std::same_as<X, double> ? 0x1.921fb54442d18p+0 : 0x1.921fb6p+0;
template <class X>
inline constexpr double half_pi_rest = std::same_as<X, double> ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25;

/// A size up to 1 for the series of asin(s) = s + s^3 P(s^2), which is for s up to 1/2: s is the size, or above 1/2
/// sqrt((1 - size) / 2), where asin(size) = pi / 2 - 2 asin(s). P has the smallest maximal relative error, 2^-31 or 2^-59, of
/// those that begin with s (fitted for this file by Remez's algorithm).
template <class X>
struct ArcSine {
  X s, s_rest, square, p;
};
template <class X>
inline ArcSine<X> arc_sine(X size, auto is_large) {
  const X square = math::select(is_large, math::fma(number<X>(-0.5), size, number<X>(0.5)), size * size);
  const X root = math::sqrt(square), s = math::select(is_large, root, size);
  if constexpr (std::same_as<X, double>) {
    const ExactPair again = exact_product(s, s);
    const double s_rest = is_large && s > 0 ? ((square - again.nearest) - again.rest) / (2 * s) : 0;
    return {
        s, s_rest, square,
        polynomial(square, 0x1.555555555556p-3, 0x1.333333333094p-4, 0x1.6db6db707724ep-5, 0x1.f1c71b1d8cbcfp-6,
                   0x1.6e8bd14b4d1a2p-6, 0x1.1c4acfdae5ec8p-6, 0x1.ca0c2c7c0d32ep-7, 0x1.7619936a54c3ap-7, 0x1.5e307d2b0f7b4p-7,
                   0x1.08beec3636d28p-8, 0x1.5707cebcedc33p-6, -0x1.4700735a898f3p-6, 0x1.063064cdddfdap-5)};
  } else {
    return {s, number<X>(0), square,
            polynomial(square, 0x1.55554ep-3, 0x1.3337e4p-4, 0x1.6cc196p-5, 0x1.040ab2p-5, 0x1.e02faep-7, 0x1.31188cp-5)};
  }
}
/// Returns a number with the sign of another in place of its own, which is positive.
template <class X>
inline X with_sign(X size, X x) {
  if constexpr (Float32<X>) return from_bits<X>(to_bits(size) | (to_bits(x) & sign_bit));
  else return std::copysign(size, x);
}

/// The angle of a point with 0 <= y <= x is that of t = y / x up to 1: t + t^3 P(t^2). P has the smallest maximal relative error,
/// 2^-31 (fitted for this file by Remez's algorithm). Other points have their angle from it, and a multiple of pi / 2.
template <Float32 X>
inline X atan2_of_float(X y, X x) {
  const X zero = number<X>(0), one = number<X>(1), a = math::abs(y), b = math::abs(x);
  const auto is_steep = a > b;
  const X low = math::select(is_steep, b, a), high = math::select(is_steep, a, b);
  const X quotient = math::select(low == high, one, math::divide(low, high));  // of infinities 1
  const X t = math::select(high == zero, zero, quotient), square = t * t;
  const X p = polynomial(square, -0x1.555552p-2, 0x1.9997ep-3, -0x1.247372p-3, 0x1.c4f1bp-4, -0x1.68e60cp-4, 0x1.14202ep-4,
                         -0x1.6e1146p-5, 0x1.713b5ap-6, -0x1.df76d4p-8, 0x1.23dd98p-10);
  const auto is_left = with_sign(one, x) < zero;
  const X quarters = math::select(is_steep, one, math::select(is_left, number<X>(2), zero));
  const X v = math::select(math::not_equal(is_steep, is_left), t, -t);
  const X result = after_constant<X>(quarters * number<X>(half_pi<X>), quarters * number<X>(half_pi_rest<X>), v, zero, square, p);
  return math::select((x == x) & (y == y), with_sign(result, y), x + y);
}
/// The angle of a point, as for floats, but from a quotient t up to tan(pi / 8): beyond it, the angle is pi / 4 - atan((x - y)
/// / (x + y)). The quotient is a pair; P has an error of 2^-63.
inline double atan2_of_double(double y, double x) {
  if (x != x || y != y) return x + y;
  // multiples of pi / 4, and their rests
  constexpr double eighths[] = {0, 0x1.921fb54442d18p-1, 0x1.921fb54442d18p+0, 0x1.2d97c7f3321d2p+1, 0x1.921fb54442d18p+1};
  constexpr double rests[] = {0, 0x1.1a62633145c07p-55, 0x1.1a62633145c07p-54, 0x1.a79394c9e8a0ap-54, 0x1.1a62633145c07p-53};
  const auto size = [](double z) { return std::fabs(z) < 0x1p-1022 ? 0 : std::fabs(z); };
  const double a = size(y), b = size(x);
  double low = a < b ? a : b, high = a < b ? b : a, rest = 0;
  int eighth = 0;
  ExactPair t{0, 0};
  if (high == infinity64) {
    eighth = low == infinity64 ? 1 : 0;
  } else if (low > 0) {
    const double scale = high > 0x1p900 ? 0x1p-200 : high < 0x1p-700 ? 0x1p200 : 1;
    low *= scale, high *= scale;
    ExactPair dividend{low, 0}, divisor{high, 0};
    if (low > high * 0.4142135623730951) eighth = 1, dividend = exact_sum(low, -high), divisor = exact_sum(low, high);
    t.nearest = dividend.nearest / divisor.nearest;
    const ExactPair product = exact_product(t.nearest, divisor.nearest);
    t.rest = (((dividend.nearest - product.nearest) - product.rest) + (dividend.rest - t.nearest * divisor.rest)) /
             divisor.nearest;
    const double square = t.nearest * t.nearest;
    rest = t.rest + t.nearest * square *
                        series(square, -0x1.5555555555555p-2, 0x1.9999999999814p-3, -0x1.249249248126dp-3, 0x1.c71c71bc3721bp-4,
                               -0x1.745d15563e54ep-4, 0x1.3b137a8c45ebdp-4, -0x1.110d1840f49a8p-4, 0x1.e17d9443e0049p-5,
                               -0x1.abc2402fe8eddp-5, 0x1.71f0e9e44546ap-5, -0x1.146c75179f0f9p-5, 0x1.fa52f826a0b2bp-7);
  }
  double sign = 1;
  if (a > b) eighth = 2 - eighth, sign = -1;
  if (std::signbit(x)) eighth = 4 - eighth, sign = -sign;
  const ExactPair sum = exact_sum(eighths[eighth], sign * t.nearest);
  return std::copysign(sum.nearest + (sum.rest + (rests[eighth] + sign * rest)), y);
}
}  // namespace detail

template <class X>
inline X asin(X x) {
  const X size = math::abs(x), zero = number<X>(0);
  const auto is_large = size > number<X>(0.5);
  const auto [s, s_rest, square, p] = detail::arc_sine<X>(size, is_large);
  const X base = math::select(is_large, number<X>(detail::half_pi<X>), zero);
  const X base_rest = math::select(is_large, number<X>(detail::half_pi_rest<X>), zero);
  const X v = math::select(is_large, s + s, -size);
  return detail::with_sign(detail::after_constant<X>(base, base_rest, v, s_rest + s_rest, square, p), x);
}
template <class X>
inline X acos(X x) {
  const X size = math::abs(x), zero = number<X>(0), one = number<X>(1), two = number<X>(2);
  const auto is_large = size > number<X>(0.5);
  const auto [s, s_rest, square, p] = detail::arc_sine<X>(size, is_large);
  const X quarters = math::select(is_large, math::select(x < zero, two, zero), one);
  const X v = math::select(is_large, math::select(x < zero, s + s, -(s + s)), x);
  const X v_rest = math::select(x < zero, s_rest + s_rest, -(s_rest + s_rest));
  return detail::after_constant<X>(quarters * number<X>(detail::half_pi<X>), quarters * number<X>(detail::half_pi_rest<X>), v,
                                   v_rest, square, p);
}
template <class X>
inline X atan2(X y, X x) {
  if constexpr (std::same_as<X, double>) return detail::atan2_of_double(y, x);
  else return detail::atan2_of_float(y, x);
}
template <class X>
inline X atan(X x) {
  return math::atan2(x, number<X>(1));
}

}  // namespace tilewright::math
