#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/blocks.hpp"

namespace tilewright::kernel {

/// The widest vector of floats, and how many it holds.
using Lanes = simd::batch<float>;
inline constexpr std::int64_t lanes = Lanes::size;
/// Number of accumulators of a register block: they leave registers for operands (32 with AVX-512, otherwise 16).
inline constexpr std::int64_t most_accumulators = lanes == 16 ? 28 : 12;

/// Calls f(i) for i in [0, n), with constants for i and the loop unrolled, so that arrays indexed by i live in registers. Where
/// no type depends on i, a loop with a pragma does the same, and compiles faster: it is one function. A function with such loops
/// is noinline if it sums in registers: it looks small before they are unrolled, and where GCC inlines it, the sums do not stay
/// there.
template <std::int64_t n, class F>
[[gnu::always_inline]] inline void unrolled(F&& f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<std::int64_t, static_cast<std::int64_t>(i)>()), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(n)>());
}

/// Divides [0, total) into blocks and calls f(first, size) for each. `size` is a constant: `block`, or less for the last block.
template <std::int64_t total, std::int64_t block, class F>
inline void in_blocks(F&& f) {
  std::int64_t i = 0;
  for (; i + block <= total; i += block) f(i, std::integral_constant<std::int64_t, block>());
  if constexpr (total % block != 0) f(i, std::integral_constant<std::int64_t, total % block>());
}

/// Hides the value of a pointer from the compiler, which otherwise would keep elements for the next step in registers, where none
/// are free.
[[gnu::always_inline]] inline void keep_apart(const float*& pointer) { asm("" : "+r"(pointer)); }
/// Keeps a vector that several sums use in a register. Compilers otherwise load it for each sum, and a core loads no more vectors
/// than it multiplies.
[[gnu::always_inline]] inline void keep_in_register([[maybe_unused]] Lanes& x) {
#if defined(__x86_64__) && !defined(TILEWRIGHT_VECTOR_BYTES)
  typename Lanes::register_type vector = x;
  asm("" : "+v"(vector));
  x = Lanes(vector);
#endif
}

/// Returns the first or `second` row of a 2 x 2 block of squares of `step` lanes, transposed as a block.
template <std::size_t step, bool second, class V, std::size_t... i>
[[gnu::always_inline]] inline V exchanged(V a, V b, std::index_sequence<i...>) {
  constexpr auto width = sizeof...(i);
  if constexpr (second) return __builtin_shufflevector(a, b, (i & step ? width + i : i + step)...);
  else return __builtin_shufflevector(a, b, (i & step ? width + i - step : i)...);
}

/// lanes x lanes floats.
using Square = Lanes[lanes];
/// Transposes a square in registers: log2(lanes) rounds of exchanges.
template <std::size_t step = lanes / 2>
[[gnu::always_inline]] inline void transpose_square(Square& rows) {
  using Vector = typename Lanes::register_type;
  constexpr std::make_index_sequence<lanes> all;
#pragma GCC unroll 64
  for (std::size_t i = 0; i < lanes; ++i) {
    if ((i & step) != 0) continue;
    const Vector a = rows[i], b = rows[i + step];
    rows[i] = Lanes(exchanged<step, false>(a, b, all));
    rows[i + step] = Lanes(exchanged<step, true>(a, b, all));
  }
  if constexpr (step > 1) transpose_square<step / 2>(rows);
}

/// Reads `rows` rows of `columns` numbers, `from_stride` apart, and writes each column i as a row of `lanes` floats at to(i),
/// with zeros where there are no rows.
template <std::int64_t rows, class T, class To>
[[gnu::noinline]] inline void transpose_panel(const T* from, std::int64_t from_stride, std::int64_t columns, To&& to) {
  static_assert(rows <= lanes);
  if (columns < lanes) {
    const std::int64_t narrow = std::min<std::int64_t>(columns, lanes - 1);
#if defined(__GNUC__) && !defined(__clang__)  // GCC 16 takes `narrow` for larger than it is
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif
    for (std::int64_t column = 0; column < narrow; ++column) {
      const T* element = from + column;
      float* row = to(column);
      for (std::int64_t i = 0; i < rows; ++i, element += from_stride) row[i] = static_cast<float>(*element);
      for (std::int64_t i = rows; i < lanes; ++i) row[i] = 0.f;
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
    return;
  }
  Square square;
  for (std::int64_t next = 0; next < columns; next += lanes) {
    const std::int64_t column = (std::min)(next, columns - lanes);  // the last square overlaps the one before
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < lanes; ++i)
      square[i] = i < rows ? load_floats<Lanes>(from + i * from_stride + column) : Lanes(0.f);
    transpose_square(square);
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < lanes; ++i) square[i].store_unaligned(to(column + i));
  }
}
/// Reads `rows` rows of `columns` numbers, at most `lanes` and known to the compiler, `from_stride` apart, and writes each
/// column i as a row of `lanes` floats at to(i), with zeros where there are no rows.
template <std::int64_t rows, std::int64_t columns, class T, class To>
inline void transpose_narrow_panel(const T* from, std::int64_t from_stride, To&& to) {
  static_assert(rows <= lanes && columns <= lanes);
  Square square;
#pragma GCC unroll 64
  for (std::int64_t i = 0; i < lanes; ++i)
    square[i] = i < rows ? Line<const T, 1>{from + i * from_stride}.template load<columns>(0) : Lanes(0.f);
  transpose_square(square);
#pragma GCC unroll 64
  for (std::int64_t i = 0; i < columns; ++i) square[i].store_unaligned(to(i));
}

/// Reads `columns` rows of `lanes` floats, `from_stride` apart, and writes the first `rows` lanes as rows, `to_stride` apart.
template <std::int64_t rows, class T>
[[gnu::noinline]] inline void transpose_back(const float* from, std::int64_t from_stride, std::int64_t columns, T* to,
                                             std::int64_t to_stride) {
  static_assert(rows <= lanes);
  if (columns < lanes) {
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t i = 0; i < rows; ++i) to[i * to_stride + column] = static_cast<T>(from[column * from_stride + i]);
    return;
  }
  Square square;
  for (std::int64_t next = 0; next < columns; next += lanes) {
    const std::int64_t column = (std::min)(next, columns - lanes);  // the last square overlaps the one before
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < lanes; ++i) square[i] = Lanes::load_unaligned(from + (column + i) * from_stride);
    transpose_square(square);
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < rows; ++i) store_floats(to + i * to_stride + column, square[i]);
  }
}

}  // namespace tilewright::kernel
