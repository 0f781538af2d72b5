#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tilewright/kernel/vector/lanes.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright::kernel {

/// A convolution in two dimensions of static extents, with strides in elements:
///   y[n, m, i, j] = sum over c, k, l of w[m, c, k, l] x[n, c, h.at(i, k), v.at(j, l)],
/// where h are the windows along rows and v those along columns, and x is 0 outside its extents. For the gradient of strided
/// windows the rows of x stand `h_spacing` apart, and its columns `v_spacing`, with zeros between: h.in and v.in count these.
/// Rows of x have no gap between them; those of y neither, unless rows are `y_h` apart and columns `y_v`. If channels are the
/// last axis of x or of y in memory, its columns are `x_v` or `y_v` elements apart. Elements are float32, or of 16 bits: these
/// become float32 where they are packed, and sums are rounded once, where they are stored.
struct ConvShape {
  std::int64_t images = 1, channels = 1, results = 1;
  Window h, v;
  std::int64_t h_spacing = 1, v_spacing = 1;
  std::int64_t x_n = 0, x_c = 0, w_m = 0, w_c = 0, w_h = 0, w_v = 0, y_n = 0, y_m = 0;
  std::int64_t y_h = 0, y_v = 1;  ///< y_h 0: v.out
  std::int64_t x_v = 1;
  constexpr bool operator==(const ConvShape&) const = default;

  constexpr std::int64_t taps() const { return h.kernel * v.kernel; }
  /// Returns the number of terms in the sum of a result.
  constexpr std::int64_t terms() const { return channels * taps(); }
  constexpr std::int64_t x_columns() const { return (v.in - 1) / v_spacing + 1; }
  constexpr std::int64_t y_row() const { return y_h == 0 ? v.out : y_h; }
  /// Return whether channels are the last axis in memory.
  constexpr bool x_channels_are_last() const { return x_c == 1 && x_v != 1; }
  constexpr bool y_channels_are_last() const { return y_m == 1 && y_v != 1; }
};

/// Copies `count` numbers.
template <class T>
inline void copy_floats(const T* from, std::int64_t count, float* to) {
  if constexpr (std::is_same_v<T, float>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  } else {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) load_floats<Lanes>(from + i).store_unaligned(to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
  }
}
/// Copies `count` numbers as floats, with a count that the compiler knows.
template <std::int64_t count, class T>
inline void copy_floats(const T* from, float* to) {
  if constexpr (std::is_same_v<T, float> || count < lanes) {
    copy_floats(from, count, to);
  } else {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) load_floats<Lanes>(from + i).store_unaligned(to + i);
    // the last ones overlap those before
    if constexpr (count % lanes != 0) load_floats<Lanes>(from + count - lanes).store_unaligned(to + count - lanes);
  }
}

/// Copies the columns [first, first + columns) of a row of the padded input.
template <ConvShape s, std::int64_t columns, class X>
inline void copy_padded_row(const X* plane, std::int64_t row, std::int64_t first, float* to) {
  if (row < 0 || row >= s.h.in || row % s.h_spacing != 0) {
    std::fill_n(to, columns, 0.f);
    return;
  }
  const X* from = plane + row / s.h_spacing * s.x_columns();
  if constexpr (s.v_spacing == 1) {
    const std::int64_t low = std::clamp<std::int64_t>(-first, 0, columns), high = std::clamp(s.v.in - first, low, columns);
    for (std::int64_t i = 0; i < low; ++i) to[i] = 0.f;
    copy_floats(from + first + low, high - low, to + low);
    for (std::int64_t i = high; i < columns; ++i) to[i] = 0.f;
  } else {
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::int64_t column = first + i;
      to[i] = column < 0 || column >= s.v.in || column % s.v_spacing != 0 ? 0.f : static_cast<float>(from[column / s.v_spacing]);
    }
  }
}
/// Copies the columns [first, first + columns) of a row of the padded input, with a `first` that the compiler knows, so that
/// moves have a constant length.
template <ConvShape s, std::int64_t columns, std::int64_t first, class X>
inline void copy_whole_padded_row(const X* plane, std::int64_t row, float* to) {
  if constexpr (s.v_spacing == 1) {
    constexpr std::int64_t low = std::clamp<std::int64_t>(-first, 0, columns), high = std::clamp(s.v.in - first, low, columns);
    if (row < 0 || row >= s.h.in || row % s.h_spacing != 0) {
      std::memset(to, 0, columns * sizeof(float));
      return;
    }
    const X* from = plane + row / s.h_spacing * s.x_columns();
    for (std::int64_t i = 0; i < low; ++i) to[i] = 0.f;
    if constexpr (high > low) copy_floats<high - low>(from + first + low, to + low);
    for (std::int64_t i = high; i < columns; ++i) to[i] = 0.f;
  } else {
    copy_padded_row<s, columns>(plane, row, first, to);
  }
}

}  // namespace tilewright::kernel
