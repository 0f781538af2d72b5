#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "tilewright/kernel/functions/float64.hpp"
#include "tilewright/kernel/vector/by_element.hpp"
#include "tilewright/kernel/vector/simd.hpp"
#include "tilewright/operand/math.hpp"

namespace tilewright::kernel {

template <class T, class A>
inline constexpr bool is_mask<simd::batch_bool<T, A>> = true;

}  // namespace tilewright::kernel

namespace tilewright::math {

namespace detail {
template <class X>
inline constexpr bool is_float32 = std::same_as<X, float>;
template <class A>
inline constexpr bool is_float32<simd::batch<float, A>> = true;
/// Converts an integer to an unsigned type whose arithmetic wraps around. The type is wide enough that C++ does not promote it to
/// a signed type.
template <std::integral T>
constexpr auto wrapping(T x) {
  return static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(x);
}
/// The type of X's elements: X, or the type of a batch's.
template <class X>
struct ElementOf {
  using type = X;
};
template <class T, class A>
struct ElementOf<simd::batch<T, A>> {
  using type = T;
};
}  // namespace detail

/// float, or a batch of floats.
template <class X>
concept Float32 = detail::is_float32<X>;
/// A batch of elements T, of any width.
template <class X, class T>
concept BatchOf = !std::is_arithmetic_v<X> && std::same_as<typename detail::ElementOf<X>::type, T>;

namespace detail {
/// Convert the bits of floats to unsigned integers, whose arithmetic wraps around, and back. Those of a batch are a vector of the
/// compiler, which has the operators of integers in every version of xsimd.
template <class A>
struct BatchBits {
  typedef std::uint32_t type __attribute__((vector_size(sizeof(simd::batch<float, A>))));
};
inline std::uint32_t to_bits(float x) { return std::bit_cast<std::uint32_t>(x); }
template <class A>
inline typename BatchBits<A>::type to_bits(const simd::batch<float, A>& x) {
  return std::bit_cast<typename BatchBits<A>::type>(x);
}
/// Returns the exponents of numbers from which a constant was subtracted: the bits from the 23rd on, with a sign.
template <class Bits>
inline Bits exponent_of(const Bits& bits) {
  if constexpr (std::is_integral_v<Bits>) {
    return static_cast<Bits>(static_cast<std::int32_t>(bits) >> 23);
  } else {
    typedef std::int32_t Signed __attribute__((vector_size(sizeof(Bits))));
    return std::bit_cast<Bits>(std::bit_cast<Signed>(bits) >> 23);
  }
}
inline constexpr std::uint32_t sign_bit = std::uint32_t{1} << 31;

template <class X, class Bits>
inline X from_bits(Bits bits) {
  return std::bit_cast<X>(bits);
}

/// Returns coefficients[0] + coefficients[1] x + ..., by Horner's rule.
template <class X, std::same_as<double>... C>
inline X polynomial(X x, double first, C... rest) {
  if constexpr (sizeof...(C) == 0) return number<X>(first);
  else return math::fma(polynomial(x, rest...), x, number<X>(first));
}
}  // namespace detail

template <class X>
[[gnu::always_inline]] inline X add(const X& a, const X& b) {
  if constexpr (std::integral<X>) return static_cast<X>(detail::wrapping(a) + detail::wrapping(b));
  else return a + b;
}
template <class X>
[[gnu::always_inline]] inline X subtract(const X& a, const X& b) {
  if constexpr (std::integral<X>) return static_cast<X>(detail::wrapping(a) - detail::wrapping(b));
  else return a - b;
}
template <class X>
[[gnu::always_inline]] inline X multiply(const X& a, const X& b) {
  if constexpr (std::integral<X>) {
    return static_cast<X>(detail::wrapping(a) * detail::wrapping(b));
  } else if constexpr (std::integral<typename detail::ElementOf<X>::type> && sizeof(typename detail::ElementOf<X>::type) == 8) {
    // xsimd multiplies such integers one by one
    typedef std::uint64_t Words __attribute__((vector_size(sizeof(a))));
    return std::bit_cast<X>(std::bit_cast<Words>(a) * std::bit_cast<Words>(b));
  } else {
    return a * b;
  }
}
template <class X>
[[gnu::always_inline]] inline X negate(const X& x) {
  if constexpr (std::integral<X>) return static_cast<X>(0u - detail::wrapping(x));
  else if constexpr (Float32<X>) return detail::from_bits<X>(detail::to_bits(x) ^ detail::sign_bit);  // xsimd 8.1: 0 for -0
  else return -x;
}

/// Returns |x|. Integers wrap around.
template <class T>
  requires std::is_arithmetic_v<T>
[[gnu::always_inline]] inline T absolute(T x) {
  if constexpr (std::floating_point<T>) return std::abs(x);
  else if constexpr (std::is_signed_v<T>) return x < 0 ? math::negate(x) : x;
  else return x;
}
template <class T, class A>
[[gnu::always_inline]] inline simd::batch<T, A> absolute(const simd::batch<T, A>& x) {
  if constexpr (std::floating_point<T>) return simd::abs(x);
  else if constexpr (std::is_signed_v<T>) return (simd::max)(x, simd::batch<T, A>(T(0)) - x);
  else return x;
}

template <class X>
[[gnu::always_inline]] inline X fma(const X& a, const X& b, const X& c) {
  if constexpr (std::integral<X>) {
    return math::add(math::multiply(a, b), c);
  } else if constexpr (std::floating_point<X>) {
    if constexpr (fuses<X>) return std::fma(a, b, c);
    else return a * b + c;
  } else {
#if defined(__AVX512F__)  // for which xsimd 8.1 has none
    if constexpr (BatchOf<X, float> && sizeof(a) == 64) return _mm512_fmadd_ps(a, b, c);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 64) return _mm512_fmadd_pd(a, b, c);
    else
#endif
#if defined(__FMA__)  // which narrow vectors have too, whatever xsimd calls their machine
      if constexpr (BatchOf<X, float> && sizeof(a) == 32) return _mm256_fmadd_ps(a, b, c);
      else if constexpr (BatchOf<X, float> && sizeof(a) == 16) return _mm_fmadd_ps(a, b, c);
      else
#endif
        return simd::fma(a, b, c);
  }
}

// xsimd estimates quotients of floats on ARM.
template <class X>
[[gnu::always_inline]] inline X divide(const X& a, const X& b) {
#if defined(__aarch64__)
  if constexpr (BatchOf<X, float> && sizeof(a) == 16) return vdivq_f32(a, b);
  else
#endif
    return a / b;
}

// x86 has instructions for this order of operands; xsimd's order, and so what becomes of NaN, depends on its version.
template <class X>
[[gnu::always_inline]] inline X(max)(const X& a, const X& b) {
  if constexpr (std::is_arithmetic_v<X>) {
    return a > b ? a : b;
  } else {
#if defined(__AVX512F__)
    if constexpr (BatchOf<X, float> && sizeof(a) == 64) return _mm512_max_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 64) return _mm512_max_pd(a, b);
    else
#endif
#if defined(__AVX__)
        if constexpr (BatchOf<X, float> && sizeof(a) == 32)
      return _mm256_max_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 32) return _mm256_max_pd(a, b);
    else
#endif
#if defined(__SSE2__)
        if constexpr (BatchOf<X, float> && sizeof(a) == 16)
      return _mm_max_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 16) return _mm_max_pd(a, b);
    else
#endif
      return (simd::max)(a, b);
  }
}
template <class X>
[[gnu::always_inline]] inline X(min)(const X& a, const X& b) {
  if constexpr (std::is_arithmetic_v<X>) {
    return a < b ? a : b;
  } else {
#if defined(__AVX512F__)
    if constexpr (BatchOf<X, float> && sizeof(a) == 64) return _mm512_min_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 64) return _mm512_min_pd(a, b);
    else
#endif
#if defined(__AVX__)
        if constexpr (BatchOf<X, float> && sizeof(a) == 32)
      return _mm256_min_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 32) return _mm256_min_pd(a, b);
    else
#endif
#if defined(__SSE2__)
        if constexpr (BatchOf<X, float> && sizeof(a) == 16)
      return _mm_min_ps(a, b);
    else if constexpr (BatchOf<X, double> && sizeof(a) == 16) return _mm_min_pd(a, b);
    else
#endif
      return (simd::min)(a, b);
  }
}
template <class M, class X>
[[gnu::always_inline]] inline X select(const M& condition, const X& a, const X& b) {
  if constexpr (std::is_arithmetic_v<X>) {
    return condition ? a : b;
  } else if constexpr (kernel::is_mask<X>) {
    return (condition & a) | (~condition & b);
  } else {
#if defined(__AVX512F__)  // xsimd 8.1's for integers is made of macros without -O, which do not take batches
    using T = typename X::value_type;
    if constexpr (std::integral<T> && sizeof(T) == 4 && sizeof(a) == 64) return _mm512_mask_blend_epi32(condition, b, a);
    else if constexpr (std::integral<T> && sizeof(T) == 8 && sizeof(a) == 64) return _mm512_mask_blend_epi64(condition, b, a);
    else
#endif
      return simd::select(condition, a, b);
  }
}
// xsimd has no name for it.
template <class X>
[[gnu::always_inline]] inline auto greater_or_nan(const X& a, const X& b) {
  if constexpr (std::is_arithmetic_v<X>) {
    return !(a <= b);
  } else {
#if defined(__AVX512F__)
    if constexpr (BatchOf<X, float> && sizeof(a) == 64) return typename X::batch_bool_type(_mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ));
    else
#endif
#if defined(__AVX__)
      // a mask of one bit an element is that of xsimd 14 for AVX-512
      if constexpr (BatchOf<X, float> && sizeof(typename X::batch_bool_type::register_type) == 32)
        return typename X::batch_bool_type(_mm256_cmp_ps(a, b, _CMP_NLE_UQ));
      else
#endif
        return !(a <= b);
  }
}
/// Returns the sum of a batch's elements, which xsimd 10 has renamed.
template <class T, class A>
inline T sum(const simd::batch<T, A>& x) {
#if defined(TILEWRIGHT_VECTOR_BYTES) || XSIMD_VERSION_MAJOR >= 10
  return simd::reduce_add(x);
#else
  return simd::hadd(x);
#endif
}
/// Returns the largest of a batch's elements.
template <class T, class A>
inline T(max)(const simd::batch<T, A>& x) {
#if defined(TILEWRIGHT_VECTOR_BYTES) || XSIMD_VERSION_MAJOR >= 10
  return simd::reduce_max(x);
#else
#if defined(__AVX512F__)
  if constexpr (std::same_as<T, float> && sizeof(x) == 64) return _mm512_reduce_max_ps(x);
#endif
  alignas(simd::batch<T, A>) T elements[simd::batch<T, A>::size];
  x.store_aligned(elements);
  for (std::size_t half = simd::batch<T, A>::size / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) elements[i] = (max)(elements[i], elements[i + half]);
  return elements[0];
#endif
}

namespace detail {
/// exp(x) = 2^k exp(r) with k = floor(x / ln 2) and r = x - k ln 2 in [0, ln 2]. The polynomial of exp(r) has the smallest
/// maximal relative error, 2^-28, of those that begin with 1 + r (fitted for this file by weighted least squares).
template <Float32 X>
inline X exp_of_float(X x) {
  // Numbers of this size have no bits after the point, and the last ones of their 23 are those of k + 127.
  constexpr double shift = 0x1.8p23 + 127;
  const X limited = (math::max)(number<X>(-87.4), (math::min)(number<X>(88.8), x));  // k: -127, which gives 0, to 128, infinity
  const X shifted = math::fma(limited, number<X>(0x1.715476p+0), number<X>(-0.5)) + number<X>(shift);
  const X k = shifted - number<X>(shift);
  // ln 2 in two parts, the first with so few bits that k times it is exact
  const X r = math::fma(k, number<X>(0x1.bd0106p-13), math::fma(k, number<X>(-0x1.63p-1), limited));
  const X power = from_bits<X>(to_bits(shifted) << 23);  // 2^k
  return power * polynomial(r, 1.0, 1.0, 0x1.00004cp-1, 0x1.55431cp-3, 0x1.56e042p-5, 0x1.01d524p-7, 0x1.f558d6p-10);
}

/// Returns k ln 2 + log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]: log(1 + f) = f - f^2 / 2 + f^3 P(f). P gives the smallest
/// maximal relative error, 2^-27 (fitted for this file by weighted least squares).
template <Float32 X>
inline X log_of_parts(X k, X f) {
  const X p = polynomial(f, 0x1.555554p-2, -0x1.000226p-2, 0x1.99a008p-3, -0x1.547244p-3, 0x1.22da1cp-3, -0x1.0d8542p-3,
                         0x1.055b6cp-3, -0x1.38b582p-4);
  const X ff = f * f;
  const X rest = math::fma(k, number<X>(-0x1.bd0106p-13), math::fma(ff * f, p, ff * number<X>(-0.5)));
  return math::fma(k, number<X>(0x1.63p-1), f + rest);
}
template <Float32 X>
inline X log_of_float(X x) {
  constexpr std::uint32_t sqrt_half = 0x3f3504f3;  // bits of sqrt(1/2)
  const X denormal_scale = number<X>(0x1p23), smallest_normal = number<X>(0x1p-126), zero = number<X>(0);
  const auto is_denormal = x < smallest_normal;
  const X normal = math::select(is_denormal, x * denormal_scale, x);
  const auto bits = to_bits(normal);  // of negative numbers anything, as they become NaN
  const auto exponent = exponent_of(bits - sqrt_half);
  const X f = from_bits<X>(bits - (exponent << 23)) - number<X>(1);
  // the integer k as a float: the last bits of a number of this size
  constexpr std::uint32_t bits_of_shift = 0x4b400000;  // 1.5 2^23
  const X k = from_bits<X>(exponent + bits_of_shift) - math::select(is_denormal, number<X>(0x1.8p23 + 23), number<X>(0x1.8p23));
  const X result = log_of_parts(k, f);
  const X infinity = number<X>(std::numeric_limits<float>::infinity()), nan = number<X>(std::numeric_limits<float>::quiet_NaN());
  return math::select(x > zero, math::select(x < infinity, result, x), math::select(x == zero, -infinity, nan));
}

/// exp(x) as 2^k (1 + excess), with k the nearest integer to x / ln 2, so that `excess` is as accurate for small x: there k is 0.
template <Float32 X>
struct ExpParts {
  X shifted;  ///< number whose last bits are those of k + 127
  X excess;

  /// Returns 2^(k + more).
  X power(std::uint32_t more = 0) const { return from_bits<X>((to_bits(shifted) + more) << 23); }
};
/// The polynomial of exp(r) - 1 has the smallest maximal relative error, 2^-26, of those that begin with r (fitted for this file
/// by weighted least squares).
template <Float32 X>
inline ExpParts<X> exp_parts(X x) {
  constexpr double shift = 0x1.8p23 + 127;
  const X shifted = math::fma(x, number<X>(0x1.715476p+0), number<X>(shift)), k = shifted - number<X>(shift);
  const X r = math::fma(k, number<X>(0x1.bd0106p-13), math::fma(k, number<X>(-0x1.63p-1), x));
  const X p = polynomial(r, 0x1.fffffep-2, 0x1.5554b0p-3, 0x1.555674p-5, 0x1.1227f6p-7, 0x1.6bebf2p-10);
  return {shifted, math::fma(r * r, p, r)};
}

/// tanh(|x|) = e / (e + 2) with e = exp(2 |x|) - 1 = 2^k small + (2^k - 1), and with the sign of x.
template <Float32 X>
inline X tanh_of_float(X x) {
  const auto bits = to_bits(x);
  const X size = from_bits<X>(bits & ~sign_bit);
  const X limited = (math::min)(number<X>(9.1), size);  // beyond which tanh rounds to 1
  const auto parts = exp_parts<X>(limited + limited);
  const X e = math::fma(parts.power(), parts.excess, parts.power() - number<X>(1));
  const X result = math::divide(e, e + number<X>(2));
  return from_bits<X>(to_bits(result) | (bits & sign_bit));
}

/// Returns x, or 0 for a denormal number: the libraries compute another logarithm from it than from 0.
template <class X>
inline X normal_or_zero(X x) {
  return math::select(absolute(x) < smallest_normal<X>(), number<X>(0), x);
}
}  // namespace detail

template <class X>
[[gnu::always_inline]] inline X sqrt(X x) {
  if constexpr (std::floating_point<X>) return std::sqrt(x);
#if defined(__aarch64__)  // where xsimd 8.1 estimates roots of floats
  else if constexpr (BatchOf<X, float> && sizeof(x) == 16) return vsqrtq_f32(x);
#endif
  else return simd::sqrt(x);
}

// Those of float32 are polynomials of this file, equal for floats and batches, so that elements in a tail block have the same
// results as in a full vector. Numbers of float64 have those of float64.hpp, batches xsimd's.
template <class X>
[[gnu::always_inline]] inline X exp(X x) {
  if constexpr (Float32<X>) return detail::exp_of_float(x);
  else if constexpr (std::floating_point<X>) return detail::exp_of_double(x);
  else return simd::exp(x);
}
template <class X>
[[gnu::always_inline]] inline X log(X x) {
  if constexpr (Float32<X>) return detail::log_of_float(x);
  else if constexpr (std::floating_point<X>) return detail::log_of_double(x);
  else return vector_log(detail::normal_or_zero(x));
}
template <class X>
[[gnu::always_inline]] inline X tanh(X x) {
  if constexpr (Float32<X>) return detail::tanh_of_float(x);
  else if constexpr (std::floating_point<X>) return detail::tanh_of_double(x);
  else return simd::tanh(x);
}
template <class X>
inline X sigmoid(X x) {
  return math::divide(number<X>(1), number<X>(1) + math::exp(-x));
}

}  // namespace tilewright::math
