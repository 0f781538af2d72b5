#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/epilogue.hpp"
#include "tilewright/kernel/matmul/pack.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/kernel/vector/lanes.hpp"
#include "tilewright/operand/matmul_shape.hpp"

namespace tilewright::kernel {

/// Returns the rows of a register block. Its sums, rows times columns, fill one vector.
constexpr std::int64_t inner_rows(const MatMulShape& s) { return even_block(s.m, std::max<std::int64_t>(1, float_width / 2)); }

/// Returns the sums over k of `rows` rows of a times `columns` columns of b (all contiguous along k), column by column in one
/// vector.
template <MatMulShape s, std::int64_t rows, std::int64_t columns, bool prefetch>
[[gnu::always_inline]] inline FloatBatch inner_block(const float* a, const float* b) {
  static_assert(rows * columns <= float_width);
  FloatBatch sum[FloatBatch::size];
  const auto clear = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (std::int64_t e = 0; e < float_width; ++e) sum[e] = FloatBatch(0.f);
  };
  clear();
  const auto step = [&]<std::int64_t width>(std::integral_constant<std::int64_t, width>, std::int64_t k)
                        __attribute__((always_inline)) {
                          FloatBatch column[std::size_t(columns)];
#pragma GCC unroll 16
                          for (std::int64_t j = 0; j < columns; ++j) {
                            column[j] = load_first<width>(b + j * s.b_n + k);
                            if constexpr (prefetch) __builtin_prefetch(b + (j + columns) * s.b_n + k);
                          }
#pragma GCC unroll 16
                          for (std::int64_t i = 0; i < rows; ++i) {
                            FloatBatch row = load_first<width>(a + i * s.a_m + k);
                            if constexpr (columns > 1) keep_in_register(row);
#pragma GCC unroll 16
                            for (std::int64_t j = 0; j < columns; ++j)
                              sum[j * rows + i] = math::fma(row, column[j], sum[j * rows + i]);
                          }
                        };
  constexpr std::int64_t end = s.k / float_width * float_width;
  constexpr std::integral_constant<std::int64_t, float_width> whole;
  if constexpr (is_long_product(s.k)) {
    LongSums all;
    for (std::int64_t begin = 0; begin < end; begin += terms_of_product) {
      for (std::int64_t k = begin; k < (std::min)(end, begin + terms_of_product); k += float_width) step(whole, k);
      all.add(sums_of(sum));
      clear();
    }
    if constexpr (end < s.k) step(std::integral_constant<std::int64_t, s.k - end>{}, end);
    all.add(sums_of(sum));
    return all.value();
  }
  for (std::int64_t k = 0; k < end; k += float_width) step(whole, k);
  if constexpr (end < s.k) step(std::integral_constant<std::int64_t, s.k - end>{}, end);
  return sums_of(sum);
}

/// Computes `rows` rows and `n` columns from i, j on; n is at most float_width.
template <MatMulShape s, std::int64_t rows, std::int64_t n, bool prefetch, class Epilogue>
inline void inner_strip(const float* a, const float* b, std::int64_t i, std::int64_t j, const Epilogue& epilogue) {
  constexpr std::int64_t columns = (std::min)(n, float_width / rows), rest = n % columns;
  // Sums come column by column. The end of each vector is overwritten by the next one.
  alignas(line_bytes) float by_column[std::size_t(n * rows + float_width)];
  const auto block = [&]<std::int64_t width>(std::integral_constant<std::int64_t, width>,
                                             std::int64_t column) __attribute__((always_inline)) {
    inner_block<s, rows, width, prefetch>(a + i * s.a_m, b + (j + column) * s.b_n).store_unaligned(by_column + column * rows);
  };
  std::int64_t column = 0;
  for (; column + columns <= n; column += columns) block(std::integral_constant<std::int64_t, columns>{}, column);
  if constexpr (rest > 0) block(std::integral_constant<std::int64_t, rest>{}, column);
  if constexpr (rows == 1) {
    finish_row<n>(by_column, i, j, epilogue);
  } else {
    alignas(line_bytes) float by_row[std::size_t(rows * float_width)];
    pack_transposed<n, rows, rows, float_width>(by_column, by_row);
#pragma GCC unroll 1
    for (std::int64_t row = 0; row < rows; ++row) finish_row<n>(by_row + row * float_width, i + row, j, epilogue);
  }
}

/// Computes dot products: a and b are contiguous along k.
template <MatMulShape s, class Epilogue>
inline void inner_matmul(const float* a, const float* b, const Epilogue& epilogue) {
  constexpr std::int64_t rows = inner_rows(s), rows_rest = s.m % rows;
  const auto strip = [&]<std::int64_t n>(std::integral_constant<std::int64_t, n>, std::int64_t j) __attribute__((always_inline)) {
    std::int64_t i = 0;
    inner_strip<s, rows, n, true>(a, b, i, j, epilogue);
    for (i = rows; i + rows <= s.m; i += rows) inner_strip<s, rows, n, false>(a, b, i, j, epilogue);
    if constexpr (rows_rest > 0) inner_strip<s, rows_rest, n, false>(a, b, i, j, epilogue);
  };
  std::int64_t j = 0;
  for (; j + float_width <= s.n; j += float_width) strip(std::integral_constant<std::int64_t, float_width>{}, j);
  if constexpr (s.n % float_width > 0) strip(std::integral_constant<std::int64_t, s.n % float_width>{}, j);
}

}  // namespace tilewright::kernel
