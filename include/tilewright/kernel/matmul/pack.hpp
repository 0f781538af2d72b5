#pragma once
#include <cstdint>

#include "tilewright/kernel/matmul/vectors.hpp"
#include "tilewright/operand/matmul_shape.hpp"

namespace tilewright::kernel {

/// Number of rows by which long columns of b are prefetched: their lines are too far apart for the processor's own prefetching.
/// The cold lines of fc1 and fc2 of `./dev bench kernels` depend on it; no other number was measured.
inline constexpr std::int64_t prefetch_rows = 16;
/// Number of squares by which long columns of b that are transposed in squares of vectors are prefetched: each row of a square is
/// a separate stream.
inline constexpr std::int64_t prefetch_squares = 4;

/// Transposes `rows` x `columns` elements (rows of stride `row_stride`, contiguous along columns; at most a square of vectors)
/// into panel: one vector a column, `panel_stride` apart, zeros beyond `rows`.
template <std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t panel_stride, class B>
[[gnu::always_inline]] inline void pack_transposed(const B* from, float* panel) {
  FloatBatch square[FloatBatch::size];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < float_width; ++i)
    square[i] = i < rows ? load_first<columns>(from + i * row_stride) : FloatBatch(0.f);
  transpose(square);
#pragma GCC unroll 16
  for (std::int64_t j = 0; j < float_width; ++j)
    if (j < columns) square[j].store_aligned(panel + j * panel_stride);
}

/// Copies `rows` rows of `columns` columns of b (from its row 0, column 0 on) into panel. A row of panel has whole vectors, with
/// zeros at the end of the last one. Only the last rows of b may have a number that is not a multiple of float_width.
template <MatMulShape s, std::int64_t columns, class B>
inline void pack_panel(const B* b, std::int64_t rows, float* panel) {
  constexpr std::int64_t vectors = ceil_div(columns, float_width), panel_stride = vectors * float_width;
  constexpr std::int64_t last = columns - (vectors - 1) * float_width;
  if constexpr (s.b_n == 1) {
    for (std::int64_t k = 0; k < rows; ++k) {
      const B* row = b + k * s.b_k;
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < vectors; ++v) __builtin_prefetch(row + prefetch_rows * s.b_k + v * float_width);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < vectors - 1; ++v)
        load_floats<FloatBatch>(row + v * float_width).store_aligned(panel + k * panel_stride + v * float_width);
      load_first<last>(row + (vectors - 1) * float_width).store_aligned(panel + k * panel_stride + (vectors - 1) * float_width);
    }
  } else if constexpr (s.b_k == 1) {
    const auto pack_vector = [&]<std::int64_t width>(std::integral_constant<std::int64_t, width>, std::int64_t v) {
      const B* column = b + v * float_width * s.b_n;
      float* to = panel + v * float_width;
      std::int64_t k = 0;
      for (; k + float_width <= rows; k += float_width) {
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < width; ++i) __builtin_prefetch(column + k + i * s.b_n + prefetch_squares * float_width);
        pack_transposed<width, float_width, s.b_n, panel_stride>(column + k, to + k * panel_stride);
      }
      if constexpr (s.k % float_width > 0)
        if (k < rows) pack_transposed<width, s.k % float_width, s.b_n, panel_stride>(column + k, to + k * panel_stride);
    };
    constexpr std::int64_t full = columns / float_width;
    for (std::int64_t v = 0; v < full; ++v) pack_vector(std::integral_constant<std::int64_t, float_width>{}, v);
    if constexpr (full < vectors) pack_vector(std::integral_constant<std::int64_t, last>{}, full);
  } else {
    for (std::int64_t k = 0; k < rows; ++k)
      for (std::int64_t j = 0; j < panel_stride; ++j)
        panel[k * panel_stride + j] = j < columns ? static_cast<float>(b[k * s.b_k + j * s.b_n]) : 0.f;
  }
}

}  // namespace tilewright::kernel
