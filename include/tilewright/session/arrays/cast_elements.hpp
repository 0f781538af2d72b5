#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/span.hpp"

/// Conversion of a tensor's elements to a dtype that is known at run time only, for tensors that are loaded.
namespace tilewright::detail {

/// Returns whether both dtypes have floating-point numbers, or both have integers. float8 has a scale, and is neither.
constexpr bool is_same_kind(DType a, DType b) {
  return has_arithmetic(a) && has_arithmetic(b) && ((is_int(a) && is_int(b)) || (is_floating_point(a) && is_floating_point(b)));
}
/// Returns whether each number of the dtype `from` is a number of `to`, too: conversion is exact.
constexpr bool holds_all(DType to, DType from) {
  if (to == from) return true;
  if (!is_same_kind(to, from) || size_of(to) <= size_of(from)) return false;
  return is_floating_point(to) || is_signed(to) || !is_signed(from);
}

inline constexpr std::size_t cast_block = 1024;  // elements on the way, which stay in a cache

/// Elements on the way from one dtype to another. float holds all numbers of half precision and float32, and processors convert
/// them fast. double holds those of float64, too. std::int64_t holds each integer but those of uint64 from 2^63 on, which no
/// other dtype holds.
template <class Wide>
struct CastCalls {
  /// Reads elements. Returns the index of the first one that Wide does not hold, or their number.
  std::size_t (*read)(const std::byte*, Span<Wide>) = nullptr;
  /// Rounds and writes elements. Returns the index of the first one outside of the dtype's range, or their number.
  std::size_t (*write)(Span<const Wide>, std::byte*) = nullptr;
};
template <class Wide>
CastCalls<Wide> cast_calls(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) -> CastCalls<Wide> {
    constexpr bool is_real = std::is_same_v<T, float> || is_half_type<T> || (std::is_same_v<T, double> && sizeof(Wide) == 8);
    constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    if constexpr (std::is_floating_point_v<Wide> ? is_real : is_whole) {
      return {[](const std::byte* from, Span<Wide> to) {
                for (std::size_t i = 0; i < to.size(); ++i) {
                  T element;
                  std::memcpy(&element, from + i * sizeof(T), sizeof(T));
                  if constexpr (is_whole)
                    if (!std::in_range<Wide>(element)) return i;
                  to[i] = static_cast<Wide>(element);
                }
                return to.size();
              },
              [](Span<const Wide> from, std::byte* to) {
                for (std::size_t i = 0; i < from.size(); ++i) {
                  if constexpr (is_whole)
                    if (!std::in_range<T>(from[i])) return i;
                  const T element = static_cast<T>(from[i]);
                  if constexpr (is_real)
                    if (std::isinf(static_cast<double>(element)) && !std::isinf(from[i])) return i;
                  std::memcpy(to + i * sizeof(T), &element, sizeof(T));
                }
                return from.size();
              }};
    } else {
      return {};
    }
  });
}

template <class Wide>
std::optional<std::size_t> cast_by(Span<const std::byte> from, DType from_dtype, std::byte* to, DType to_dtype) {
  const CastCalls<Wide> source = cast_calls<Wide>(from_dtype), target = cast_calls<Wide>(to_dtype);
  const auto from_size = static_cast<std::size_t>(size_of(from_dtype)), to_size = static_cast<std::size_t>(size_of(to_dtype));
  const std::size_t count = from.size() / from_size;
  std::array<Wide, cast_block> block;
  for (std::size_t first = 0; first < count; first += cast_block) {
    const Span<Wide> part = Span<Wide>(block).first((std::min)(cast_block, count - first));
    const std::size_t read = source.read(from.data() + first * from_size, part);
    const std::size_t written = target.write(part.first(read), to + first * to_size);
    if (written != part.size()) return first + written;
  }
  return std::nullopt;
}
/// Converts elements to a dtype of the same kind, rounded to nearest, ties to even. Returns the index of the first element whose
/// number is outside of the dtype's range, or nothing. Infinities and NaN stay what they are.
template <class Bytes>
std::optional<std::size_t> cast_elements(const Bytes& from, DType from_dtype, std::byte* to, DType to_dtype) {
  if (is_int(from_dtype)) return cast_by<std::int64_t>(from, from_dtype, to, to_dtype);
  return from_dtype == float64 || to_dtype == float64 ? cast_by<double>(from, from_dtype, to, to_dtype)
                                                      : cast_by<float>(from, from_dtype, to, to_dtype);
}

}  // namespace tilewright::detail
