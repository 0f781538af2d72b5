#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/vector/simd.hpp"

namespace tilewright::kernel {

using FloatBatch = simd::batch<float>;
inline constexpr std::int64_t float_width = FloatBatch::size;

/// Returns the vector whose element e is element Pick()(e) of the sequence x, y. (xsimd does not have a shuffle of two vectors in
/// all its versions; both compilers have this one.)
template <class Pick, std::size_t... e>
[[gnu::always_inline]] inline FloatBatch shuffled(const FloatBatch& x, const FloatBatch& y, std::index_sequence<e...>) {
  using Register = FloatBatch::register_type;
  return FloatBatch(__builtin_shufflevector(static_cast<Register>(x), static_cast<Register>(y), Pick()(static_cast<int>(e))...));
}
template <class Pick>
[[gnu::always_inline]] inline FloatBatch shuffled(const FloatBatch& x, const FloatBatch& y) {
  return shuffled<Pick>(x, y, std::make_index_sequence<FloatBatch::size>());
}
/// Patterns of one instruction each, with lanes of four floats. From x0 x1 x2 x3 and y0 y1 y2 y3 in each lane: x0 y0 x1 y1 or x2
/// y2 x3 y3.
template <int half>
struct InterleaveElements {
  constexpr int operator()(int e) const { return e / 4 * 4 + e % 4 / 2 + 2 * half + e % 2 * static_cast<int>(float_width); }
};
/// x0 x1 y0 y1 or x2 x3 y2 y3.
template <int half>
struct InterleavePairs {
  constexpr int operator()(int e) const { return e / 4 * 4 + e % 2 + 2 * half + e % 4 / 2 * static_cast<int>(float_width); }
};
/// The even or the odd lanes of x and y.
template <int odd>
struct AlternateLanes {
  constexpr int operator()(int e) const { return (e / 4 * 2 + odd) * 4 + e % 4; }
};

/// The shuffles of step `step` on a pair of vectors, on the way from one vector a row to one vector a column.
template <int step, int half>
[[gnu::always_inline]] inline FloatBatch transpose_step(const FloatBatch& x, const FloatBatch& y) {
  if constexpr (step == 0) return shuffled<InterleaveElements<half>>(x, y);
  else if constexpr (step == 1) return shuffled<InterleavePairs<half>>(x, y);
  else return shuffled<AlternateLanes<half>>(x, y);
}
inline constexpr int transpose_steps = std::countr_zero(FloatBatch::size);

/// Transposes a square of one vector a row.
template <int step = 0>
[[gnu::always_inline]] inline void transpose(FloatBatch (&rows)[FloatBatch::size]) {
  if constexpr (step == transpose_steps) {
    // Within lanes, the first step chose bit 1 of the column and the second bit 0.
    if constexpr (float_width >= 4)
      for (int lane = 0; lane < float_width; lane += 4) std::swap(rows[lane + 1], rows[lane + 2]);
  } else {
    // A pair is two rows with numbers that differ in bit `step`. Afterwards this bit tells the half that the shuffle took.
#pragma GCC unroll 16
    for (int i = 0; i < float_width; ++i) {
      if (i & (1 << step)) continue;
      const FloatBatch x = rows[i], y = rows[i + (1 << step)];
      rows[i] = transpose_step<step, 0>(x, y);
      rows[i + (1 << step)] = transpose_step<step, 1>(x, y);
    }
    transpose<step + 1>(rows);
  }
}

/// Vectors of a square of elements of 2 or 4 bytes, whose bits are in those of floats: shuffles move bits.
template <class T>
using BitsOf
    [[gnu::vector_size(sizeof(T) * FloatBatch::size)]] = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;

template <class T>
[[gnu::always_inline]] inline FloatBatch load_bits(const T* from) {
  BitsOf<T> bits;
  std::memcpy(&bits, from, sizeof bits);
  return FloatBatch(std::bit_cast<FloatBatch::register_type>(__builtin_convertvector(bits, BitsOf<float>)));
}
template <class T>
[[gnu::always_inline]] inline void store_bits(T* to, const FloatBatch& x) {
  const auto bits = std::bit_cast<BitsOf<float>>(static_cast<FloatBatch::register_type>(x));
  const auto narrow = __builtin_convertvector(bits, BitsOf<T>);
  std::memcpy(to, &narrow, sizeof narrow);
}

/// Transposes `rows` x `columns` elements of 2 or 4 bytes, bit by bit: to[i][j] = from[j][i]. Rows of `to` are `to_row` elements
/// apart, those of `from` `from_row`; elements of a row are contiguous.
template <std::int64_t rows, std::int64_t columns, class T>
inline void copy_transposed(T* to, std::int64_t to_row, const T* from, std::int64_t from_row) {
  constexpr std::int64_t whole_rows = rows / float_width * float_width, whole_columns = columns / float_width * float_width;
  for (std::int64_t j = 0; j < whole_columns; j += float_width)
    for (std::int64_t i = 0; i < whole_rows; i += float_width) {
      FloatBatch square[FloatBatch::size];
#pragma GCC unroll 16
      for (std::int64_t e = 0; e < float_width; ++e) square[e] = load_bits(from + (j + e) * from_row + i);
      transpose(square);
#pragma GCC unroll 16
      for (std::int64_t e = 0; e < float_width; ++e) store_bits(to + (i + e) * to_row + j, square[e]);
    }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) to[i * to_row + j] = from[j * from_row + i];
}

}  // namespace tilewright::kernel
