#pragma once
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/math.hpp"

namespace tilewright::math {

namespace detail {
/// Returns `result`, but f(x...) in the elements where `special` is true, which are few.
template <class Mask, class X, class F>
[[gnu::always_inline]] inline X where_special(const Mask& special, const X& result, F&& f, const auto&... inputs) {
  if constexpr (std::is_arithmetic_v<X>) {
    return special ? f(inputs...) : result;
  } else {
    if (!simd::any(special)) [[likely]]
      return result;
    using T = typename X::value_type;
    struct alignas(X) Elements {
      T at[X::size];
      explicit Elements(const X& x) { x.store_aligned(at); }
    };
    const Elements is_special(simd::select(special, X(T(1)), X(T(0))));
    Elements results(result);
    [&](const auto&... elements) {
      for (std::size_t i = 0; i < X::size; ++i)
        if (is_special.at[i] != 0) results.at[i] = f(elements.at[i]...);
    }(Elements(inputs)...);
    return X::load_aligned(results.at);
  }
}
/// Returns f(x, y) of a function for which denormal numbers are no zeros, as if they were.
template <std::floating_point T>
inline T without_denormals(T (*f)(T, T), T x, T y) {
  const auto flushed = [](T z) { return std::fabs(z) < (std::numeric_limits<T>::min)() ? std::copysign(T(0), z) : z; };
  return flushed(f(flushed(x), flushed(y)));
}
/// The exact sum of two floats: the nearest float, and the rest.
template <Float32 X>
struct FloatSum {
  X nearest, rest;
};
template <Float32 X>
inline FloatSum<X> exact_sum_of_floats(X a, X b) {
  const X sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
/// Returns a rounded x with the sign of x, which xsimd loses for -0 where the machine has no instruction.
template <class X>
[[gnu::always_inline]] inline X with_sign_of(const X& x, const X& rounded) {
#if defined(__SSE2__) && !defined(__SSE4_1__)
  return rounded | (x & number<X>(-0.0));
#else
  return static_cast<void>(x), rounded;
#endif
}
}  // namespace detail

template <class X>
[[gnu::always_inline]] inline X abs(const X& x) {
  if constexpr (Float32<X>) return detail::from_bits<X>(detail::to_bits(x) & ~detail::sign_bit);
  else if constexpr (std::floating_point<X>) return std::fabs(x);
  else if constexpr (std::signed_integral<X>) return x < 0 ? math::negate(x) : x;
  else return x;
}
template <class X>
[[gnu::always_inline]] inline X sign(const X& x) {
  if constexpr (std::unsigned_integral<X>) return x != 0;
  else return math::select(x > number<X>(0), number<X>(1), math::select(x < number<X>(0), number<X>(-1), number<X>(0)));
}

template <class X>
[[gnu::always_inline]] inline X floor(const X& x) {
  if constexpr (std::is_arithmetic_v<X>) return std::floor(x);
  else return detail::with_sign_of(x, simd::floor(x));
}
template <class X>
[[gnu::always_inline]] inline X ceil(const X& x) {
  if constexpr (std::is_arithmetic_v<X>) return std::ceil(x);
  else return detail::with_sign_of(x, simd::ceil(x));
}
/// Returns the integer between x and 0; NaN and infinities are unchanged.
template <class X>
[[gnu::always_inline]] inline X trunc(const X& x) {
  if constexpr (std::is_arithmetic_v<X>) return std::trunc(x);
  else return detail::with_sign_of(x, simd::trunc(x));
}

/// Numbers of at least 2^23, in float64 2^52, have no fraction, and the sum with one of them leaves none.
template <class X>
[[gnu::always_inline]] inline X round(const X& x) {
  const X size = math::abs(x), whole = number<X>(Float32<X> ? 0x1p23 : 0x1p52), rounded = (size + whole) - whole;
  if constexpr (Float32<X>)
    return math::select(size < whole, detail::from_bits<X>(detail::to_bits(rounded) | (detail::to_bits(x) & detail::sign_bit)),
                        x);
  else return size < whole ? std::copysign(rounded, x) : x;
}

/// For floats with a small quotient, the remainder follows from the quotient. If a / b was rounded up, the quotient may be one
/// too large. In that case, the remainder has the wrong sign and is corrected. Other elements are computed one by one.
template <class X>
inline X fmod(const X& a, const X& b) {
  if constexpr (std::integral<X>) {
    if constexpr (std::signed_integral<X>)
      if (b == X(-1)) return 0;  // the quotient of the least integer does not exist
    return static_cast<X>(a % b);
  } else if constexpr (std::same_as<X, double>) {
    return detail::without_denormals<double>(detail::fmod_of_double, a, b);
  } else {
    const X dividend = math::abs(a), divisor = math::abs(b), q = math::trunc(math::divide(dividend, divisor));
    const X r = math::fma(-q, divisor, dividend), remainder = math::select(r < number<X>(0), r + divisor, r);
    const X result = detail::from_bits<X>(detail::to_bits(remainder) | (detail::to_bits(a) & detail::sign_bit));
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    const auto is_small = (q < number<X>(0x1p22)) & (divisor > number<X>(0x1p-100)) & (divisor < number<X>(0x1p126));
#else
    const auto is_small = q < number<X>(0);  // the product would be rounded
#endif
    const auto of_one = [](float x, float y) {
      return detail::without_denormals<float>([](float c, float d) { return static_cast<float>(detail::fmod_of_double(c, d)); },
                                              x, y);
    };
    return detail::where_special(!is_small, result, of_one, a, b);
  }
}

}  // namespace tilewright::math
