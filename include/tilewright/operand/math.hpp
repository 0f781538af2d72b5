#pragma once
#include <limits>
#include <type_traits>

namespace tilewright::kernel {

/// Whether X is a mask of a batch, which is what a comparison of batches gives. kernel/math.hpp says which types are.
template <class X>
inline constexpr bool is_mask = false;

}  // namespace tilewright::kernel

/// Functions for formulas of ops, which accept scalars and batches, so that one formula is both kernels. Most are declared
/// here only: kernel/math.hpp and kernel/functions/ define them for programs that are compiled to run.
namespace tilewright::math {

/// Returns a constant of a formula in the type of its variable: float for float and batches of float.
template <class X>
inline X number(double value) {
  if constexpr (std::is_arithmetic_v<X>) return static_cast<X>(value);
  else return X(static_cast<typename X::value_type>(value));
}
/// Returns the smallest normal number of X's type.
template <class X>
inline X smallest_normal() {
  if constexpr (std::is_arithmetic_v<X>) return (std::numeric_limits<X>::min)();
  else return X((std::numeric_limits<typename X::value_type>::min)());
}

/// Return a + b, a - b, a b and -x. Integers wrap around. As in C++, for bool a + b is "or", and a b is "and".
template <class X> X add(const X& a, const X& b);
template <class X> X subtract(const X& a, const X& b);
template <class X> X multiply(const X& a, const X& b);
template <class X> X negate(const X& x);
/// Returns a b + c, rounded once if the machine supports it.
template <class X> X fma(const X& a, const X& b, const X& c);
/// Returns a / b, rounded once.
template <class X> X divide(const X& a, const X& b);
/// Returns the remainder of a / b, with the sign of a, exact as C's fmod. For integers, b must not be 0.
template <class X> X fmod(const X& a, const X& b);

/// Return the larger and the smaller of two. If b is NaN, the result is NaN; if only a is NaN, the result is b, or NaN on ARM. An
/// element whose NaN must be kept is therefore the last argument.
template <class X> X(max)(const X& a, const X& b);
template <class X> X(min)(const X& a, const X& b);
/// Returns a where the condition, a bool or a mask, is true, otherwise b. a and b are numbers, bools, batches or masks.
template <class M, class X> X select(const M& condition, const X& a, const X& b);

/// Returns |x|. The lowest signed integer, which has no positive counterpart, is returned unchanged.
template <class X> X abs(const X& x);
/// Returns -1, 0 or 1; 0 for NaN.
template <class X> X sign(const X& x);
/// Return the integer at or below x, or at or above x; NaN and infinities are unchanged.
template <class X> X floor(const X& x);
template <class X> X ceil(const X& x);
/// Returns the nearest integer, of two the even one; NaN and infinities are unchanged.
template <class X> X round(const X& x);

/// Returns the square root, rounded once.
template <class X> X sqrt(X x);
/// Returns e to the power of x, for floats with an error of at most 2 ulp; results below 2^-126, the smallest normal number, are
/// 0.
template <class X> X exp(X x);
/// Return the natural logarithm and that to the base 2, for floats with an error of at most 1 ulp; -infinity at 0 and NaN below.
template <class X> X log(X x);
template <class X> X log2(X x);
/// Returns the hyperbolic tangent, for floats with an error of at most 3 ulp, never beyond +-1; x itself where tanh(x) rounds to
/// x.
template <class X> X tanh(X x);
/// Returns 1 / (1 + exp(-x)), for floats with an error of at most 3 ulp; results below 2^-127 are 0.
template <class X> X sigmoid(X x);
/// Return the sine and cosine of x in radians, for floats with an error of at most 2 ulp, or 2^-24 near their zeros; NaN for
/// infinities.
template <class X> X sin(X x);
template <class X> X cos(X x);
/// Return the tangent, the inverse functions, the angle of the point (x, y) from -pi to pi, and hyperbolic functions, for all
/// numbers with an error of at most 2 ulp; NaN where a function is not defined.
template <class X> X tan(X x);
template <class X> X asin(X x);
template <class X> X acos(X x);
template <class X> X atan(X x);
template <class X> X atan2(X y, X x);
template <class X> X sinh(X x);
template <class X> X cosh(X x);
/// Return exp(x) - 1 and log(1 + x), for all numbers with an error of at most 2 ulp.
template <class X> X expm1(X x);
template <class X> X log1p(X x);
/// Return the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, for all numbers with an error of at most
/// 2 ulp, and exp(-x^2).
template <class X> X erf(X x);
template <class X> X gaussian(X x);
/// Returns x to the power of y. Floats have an error of at most 3 ulp if the machine has a fused multiply-add, and results below
/// 2^-126 may be 0. Integers are computed modulo 2 to the power of their bits.
template <class X> X pow(X x, X y);
/// Returns x to the power of a number, which is not negative if x is an integer. Zeros, infinities and NaN follow C's pow.
template <class X> X pow_by_number(X x, double exponent);

/// The standard normal distribution at x: the probability below x, (1 + erf(x / sqrt(2))) / 2, and its density, exp(-x^2 / 2) /
/// sqrt(2 pi).
template <class X>
struct NormalDistribution {
  X below, density;
};
/// Returns the distribution. `below` keeps the digits of small results: floats have an error of at most 8 ulp; below 2^-126
/// results are 0.
template <class X> NormalDistribution<X> normal_distribution(X x);
template <class X>
inline X normal_cdf(X x) {
  return math::normal_distribution(x).below;
}

/// Compare numbers, bools (false is less than true), batches and masks. Comparisons with NaN are false, except not_equal.
template <class X>
[[gnu::always_inline]] inline auto equal(const X& a, const X& b) {
  if constexpr (kernel::is_mask<X>) return (a & b) | ~(a | b);  // xsimd 8.1's ^ is wrong with AVX-512
  else return a == b;
}
template <class X>
[[gnu::always_inline]] inline auto not_equal(const X& a, const X& b) {
  return !math::equal(a, b);  // xsimd 8.1 says with AVX-512 that NaN is not unequal to anything
}
template <class X>
[[gnu::always_inline]] inline auto less(const X& a, const X& b) {
  if constexpr (kernel::is_mask<X>) return ~a & b;
  else return a < b;
}
template <class X>
[[gnu::always_inline]] inline auto less_equal(const X& a, const X& b) {
  if constexpr (kernel::is_mask<X>) return ~a | b;
  else return a <= b;
}
/// Returns whether a > b or one of them is NaN, in one comparison.
template <class X> auto greater_or_nan(const X& a, const X& b);

/// Return the larger and the smaller of two; NaN if one of them is NaN.
template <class X>
[[gnu::always_inline]] inline X maximum(const X& a, const X& b) {
  if constexpr (std::is_integral_v<X>) return (math::max)(a, b);
  else return math::select(a == a, (math::max)(a, b), a);
}
template <class X>
[[gnu::always_inline]] inline X minimum(const X& a, const X& b) {
  if constexpr (std::is_integral_v<X>) return (math::min)(a, b);
  else return math::select(a == a, (math::min)(a, b), a);
}

}  // namespace tilewright::math
