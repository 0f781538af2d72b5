#pragma once
// Products of float64: sums in registers along columns of c, in parts of rows and terms that a first-level cache holds.
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/simd.hpp"
#include "tilewright/operand/blocks.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

using DoubleBatch = simd::batch<double>;
inline constexpr std::int64_t double_width = DoubleBatch::size;
/// Rows and vectors of a register block: with two more vectors of b and one of a, they fill 32 registers, or nearly 16.
inline constexpr std::int64_t double_rows = double_width == 8 ? 8 : 4, double_vectors = 3;
/// Terms of a panel of b, and rows whose sums are kept in memory between panels: 48 KB and 12 KB with vectors of 64 bytes.
inline constexpr std::int64_t double_terms = 256, double_part = 64;

/// Returns the columns of a strip.
constexpr std::int64_t double_columns(std::int64_t n) {
  return (std::min)(round_up(n, double_width), double_vectors * double_width);
}
/// Returns whether some strip of b is copied to a panel: elements of its rows are apart, or its last vector is not full.
constexpr bool packs_doubles(const MatMulShape& s) { return s.b_n != 1 || s.n % double_width != 0; }
/// Returns whether vectors along n pay: there are enough columns, and enough rows for a copy of b.
constexpr bool takes_doubles(const MatMulShape& s) {
  return double_width > 1 && s.n >= double_width && s.k > 0 && (s.m >= 4 || (s.m > 0 && s.b_n == 1));
}
/// Returns whether the transposed product takes fewer vectors.
constexpr bool transposes_doubles(const MatMulShape& s) {
  return takes_doubles(s.transposed()) &&
         (!takes_doubles(s) || s.n * round_up(s.m, double_width) < s.m * round_up(s.n, double_width));
}
/// Returns the bytes of the kernel's arrays on the stack.
constexpr std::int64_t doubles_stack_bytes(const MatMulShape& s) {
  const std::int64_t lines = (packs_doubles(s) ? (std::min)(s.k, double_terms) : 0) + (std::min)(s.m, double_part);
  return lines * double_columns(s.n) * static_cast<std::int64_t>(sizeof(double)) + 2 * static_cast<std::int64_t>(line_bytes);
}

/// Adds k products to the sums of `rows` rows and `vectors` vectors, whose rows are as far apart in memory as `columns`.
template <std::int64_t rows, std::int64_t vectors>
[[gnu::noinline]] inline void add_doubles(const double* a, std::int64_t a_m, std::int64_t a_k, const double* b, std::int64_t b_k,
                                          std::int64_t k, double* sums, std::int64_t columns) {
  DoubleBatch block[rows][vectors];
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) block[i][v] = DoubleBatch::load_unaligned(sums + i * columns + v * double_width);
  for (std::int64_t term = 0; term < k; ++term, a += a_k, b += b_k) {
    DoubleBatch line[vectors];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) line[v] = DoubleBatch::load_unaligned(b + v * double_width);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < rows; ++i) {
      const DoubleBatch factor(a[i * a_m]);
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v) block[i][v] = math::fma(factor, line[v], block[i][v]);
    }
  }
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) block[i][v].store_unaligned(sums + i * columns + v * double_width);
}

/// Computes `width` columns of c from column j on.
template <MatMulShape s, std::int64_t width, class Epilogue>
inline void doubles_strip(const double* a, const double* b, std::int64_t j, double* panel, double* sums,
                          const Epilogue& epilogue) {
  constexpr std::int64_t vectors = ceil_div(width, double_width), columns = vectors * double_width;
  constexpr bool packs = s.b_n != 1 || width % double_width != 0;
  constexpr std::int64_t b_k = packs ? columns : s.b_k;
  for (std::int64_t i = 0; i < s.m; i += double_part) {
    const std::int64_t rows = (std::min)(double_part, s.m - i);
    std::fill_n(sums, rows * columns, 0.0);
    for (std::int64_t term = 0; term < s.k; term += double_terms) {
      const std::int64_t count = (std::min)(double_terms, s.k - term);
      const double *from = b + term * s.b_k + j * s.b_n, *a_part = a + i * s.a_m + term * s.a_k;
      if (packs && (s.k > double_terms || i == 0))
        for (std::int64_t k = 0; k < count; ++k)
          for (std::int64_t column = 0; column < columns; ++column)
            panel[k * columns + column] = column < width ? from[k * s.b_k + column * s.b_n] : 0;
      const double* const lines = packs ? panel : from;
      std::int64_t row = 0;
      for (; row + double_rows <= rows; row += double_rows)
        add_doubles<double_rows, vectors>(a_part + row * s.a_m, s.a_m, s.a_k, lines, b_k, count, sums + row * columns, columns);
      if constexpr (constexpr std::int64_t rest = s.m % double_rows; rest > 0)
        if (row < rows)
          add_doubles<rest, vectors>(a_part + row * s.a_m, s.a_m, s.a_k, lines, b_k, count, sums + row * columns, columns);
    }
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < width; ++column) epilogue(i + row, j + column, sums[row * columns + column]);
  }
}

/// Computes a product of float64 whose columns are in vectors; the terms of a sum are added one after the other.
template <MatMulShape s, class Epilogue>
inline void multiply_doubles(const double* a, const double* b, const Epilogue& epilogue) {
  constexpr std::int64_t columns = double_columns(s.n), rest = s.n % columns;
  alignas(line_bytes) double panel[std::size_t(packs_doubles(s) ? (std::min)(s.k, double_terms) * columns : 1)];
  alignas(line_bytes) double sums[std::size_t((std::min)(s.m, double_part) * columns)];
  std::int64_t j = 0;
  for (; j + columns <= s.n; j += columns) doubles_strip<s, columns>(a, b, j, panel, sums, epilogue);
  if constexpr (rest > 0) doubles_strip<s, rest>(a, b, j, panel, sums, epilogue);
}

}  // namespace tilewright::kernel
