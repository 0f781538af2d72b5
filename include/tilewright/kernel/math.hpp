#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/xtensor.hpp"

namespace tilewright::math {

/// Functions for op formulas that take scalars and xsimd batches alike, so that one formula is both kernels.
template <std::floating_point T> inline T exp(T x) { return std::exp(x); }
template <std::floating_point T> inline T log(T x) { return std::log(x); }
template <std::floating_point T> inline T sqrt(T x) { return std::sqrt(x); }
template <std::floating_point T> inline T tanh(T x) { return std::tanh(x); }
template <class T>
  requires std::is_arithmetic_v<T>
inline T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
  requires std::is_arithmetic_v<T>
inline T select(bool condition, T a, T b) {
  return condition ? a : b;
}

template <class T, class A> inline xsimd::batch<T, A> exp(const xsimd::batch<T, A>& x) { return xsimd::exp(x); }
template <class T, class A> inline xsimd::batch<T, A> log(const xsimd::batch<T, A>& x) { return xsimd::log(x); }
template <class T, class A> inline xsimd::batch<T, A> sqrt(const xsimd::batch<T, A>& x) { return xsimd::sqrt(x); }
template <class T, class A> inline xsimd::batch<T, A> tanh(const xsimd::batch<T, A>& x) { return xsimd::tanh(x); }
template <class T, class A>
inline xsimd::batch<T, A> max(const xsimd::batch<T, A>& a, const xsimd::batch<T, A>& b) {
  return xsimd::max(a, b);
}
template <class T, class A>
inline xsimd::batch<T, A> select(const xsimd::batch_bool<T, A>& condition, const xsimd::batch<T, A>& a,
                                 const xsimd::batch<T, A>& b) {
  return xsimd::select(condition, a, b);
}
/// The sum of a batch's elements; xsimd 10 gave it another name.
template <class T, class A>
inline T sum(const xsimd::batch<T, A>& x) {
  if constexpr (requires { reduce_add(x); }) return reduce_add(x);
  else return hadd(x);
}
/// A constant of a formula in the type of its variable: float for float and batches of float.
template <class X>
inline X number(double value) {
  if constexpr (std::is_arithmetic_v<X>) return static_cast<X>(value);
  else return X(static_cast<typename X::value_type>(value));
}

}  // namespace tilewright::math
