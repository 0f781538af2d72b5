#pragma once
#include <cstddef>

#include "tilewright/kernel/functions/float64.hpp"
#include "tilewright/kernel/vector/simd.hpp"

namespace tilewright::math {

/// Whether functions of xsimd 8.1 compile that choose among integers, as logarithms do. For AVX-512 its `select` calls
/// intrinsics that GCC defines as macros without -O, and these take no batches.
#if defined(__AVX512F__) && !defined(__OPTIMIZE__) && !defined(__clang__)
inline constexpr bool has_all_vector_functions = false;
#else
inline constexpr bool has_all_vector_functions = true;
#endif

/// Applies a function of numbers to the elements of batches, one by one.
template <class F, class X, class... Rest>
inline X by_element(const F& f, const X& x, const Rest&... rest) {
  typename X::value_type results[X::size];
  for (std::size_t i = 0; i < X::size; ++i) results[i] = static_cast<typename X::value_type>(f(x.get(i), rest.get(i)...));
  return X::load_unaligned(results);
}

/// The logarithm of xsimd.
template <class X>
inline X vector_log(const X& x) {
  if constexpr (has_all_vector_functions) return simd::log(x);
  else return by_element([](auto element) { return detail::log_of_double(element); }, x);
}

}  // namespace tilewright::math
