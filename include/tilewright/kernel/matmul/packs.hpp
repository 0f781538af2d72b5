#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/vector/half.hpp"

namespace tilewright::kernel {

template <class T>
struct PackOf {
  typedef T type __attribute__((vector_size((std::max)(sizeof(simd::batch<float>), sizeof(T)))));
};
template <class T>
struct WideOf : std::type_identity<T> {};
template <class T>
  requires(std::is_integral_v<T> && sizeof(T) < 4)
struct WideOf<T> : std::conditional<std::is_signed_v<T>, std::int32_t, std::uint32_t> {};
template <class T>
  requires is_half_type<T>
struct WideOf<T> : std::type_identity<float> {};

/// The type in which vectors hold elements of a type: float for half precision, integers of 32 bits for smaller ones.
template <class T>
using wide_t = typename WideOf<T>::type;
/// A vector of the compiler as wide as the machine's. It has the operators of numbers for all types, integers of 64 bits
/// included, in every version of xsimd; comparisons give vectors of 0 and -1, which `?:` accepts.
template <class T>
using Pack = typename PackOf<T>::type;
template <class T>
inline constexpr auto pack_size = static_cast<std::int64_t>(sizeof(Pack<T>) / sizeof(T));

/// The pack of an element, and its own type.
template <class X>
struct PackElement : std::type_identity<X> {};
template <class X>
  requires(!std::is_arithmetic_v<X>)
struct PackElement<X> : std::type_identity<std::remove_cvref_t<decltype(std::declval<X&>()[0])>> {};

/// Returns a pack with equal elements, or a number itself.
template <class X>
[[gnu::always_inline]] inline X spread(typename PackElement<X>::type value) {
  if constexpr (std::is_arithmetic_v<X>) return value;
  else return value - X{};  // not X{} + value, which makes 0 of -0
}
/// Selects one of two, element by element.
template <class Mask, class X>
[[gnu::always_inline]] inline X pick(const Mask& mask, const X& a, const X& b) {
  return mask ? a : b;
}
/// Returns where x is NaN; integers never are.
template <class X>
[[gnu::always_inline]] inline auto is_nan(const X& x) {
  if constexpr (std::is_floating_point_v<typename PackElement<X>::type>) return x != x;
  else return decltype(x < x){};
}

/// Converts `count` elements at steps of `from_step` into elements at steps of `to_step`; dense halves and floats in vectors.
template <std::int64_t from_step, std::int64_t to_step, class From, class To>
[[gnu::always_inline]] inline void convert_elements(const From* from, std::int64_t count, To* to) {
  constexpr bool is_dense = from_step == 1 && to_step == 1;
  std::int64_t i = 0;
  if constexpr (is_dense && std::is_same_v<From, To>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
    return;
  } else if constexpr (is_dense &&
                       ((is_half_type<From> && std::is_same_v<To, float>) || (std::is_same_v<From, float> && is_half_type<To>))) {
    using Batch = simd::batch<float>;
    constexpr auto width = static_cast<std::int64_t>(Batch::size);
    const std::int64_t in_batches = count - count % width;  // a bound that GCC can follow
    for (; i < in_batches; i += width) store_floats(to + i, load_floats<Batch>(from + i));
    i = in_batches;
  }
  for (; i < count; ++i) to[i * to_step] = static_cast<To>(from[i * from_step]);
}

/// Loads the `count` elements at steps of `step` from `from` on as wide ones.
template <std::int64_t step, class T>
inline void load_wide(const T* from, std::int64_t count, wide_t<T>* to) {
  convert_elements<step, 1>(from, count, to);
}
/// Writes `count` wide elements at steps of `step` from `to` on.
template <std::int64_t step, class T>
inline void store_wide(const wide_t<T>* from, std::int64_t count, T* to) {
  convert_elements<1, step>(from, count, to);
}

/// Loads a pack of contiguous elements from `from` on.
template <class T>
[[gnu::always_inline]] inline Pack<wide_t<T>> load_pack(const T* from) {
  Pack<wide_t<T>> result;
  if constexpr (std::is_same_v<T, wide_t<T>>) std::memcpy(&result, from, sizeof(result));
  else if constexpr (is_half_type<T>) {
    const auto batch = load_floats<simd::batch<float>>(from);
    std::memcpy(&result, &batch, sizeof(result));
  } else {
    typedef T Narrow __attribute__((vector_size(sizeof(T) * pack_size<wide_t<T>>)));
    Narrow narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    result = __builtin_convertvector(narrow, Pack<wide_t<T>>);
  }
  return result;
}
template <class X>
[[gnu::always_inline]] inline void store_pack(typename PackElement<X>::type* to, const X& x) {
  std::memcpy(to, &x, sizeof(x));
}

}  // namespace tilewright::kernel
