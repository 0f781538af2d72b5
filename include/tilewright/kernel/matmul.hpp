#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/view.hpp"
#include "tilewright/kernel/xtensor.hpp"

namespace tilewright {

/// A matrix product of static extents c[m, n] = sum over k of a[m, k] b[k, n], with strides in elements.
struct MatMulShape {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0, c_m = 0, c_n = 0;
  constexpr bool operator==(const MatMulShape&) const = default;

  /// The same product written for the transposed result: c^T = b^T a^T.
  constexpr MatMulShape transposed() const { return {n, m, k, b_n, b_k, a_k, a_m, c_n, c_m}; }
};

namespace detail {

using FloatBatch = xsimd::batch<float>;
inline constexpr std::int64_t float_width = FloatBatch::size;
/// Register block of the kernels: rows x vectors of accumulators, with registers left for the operands.
inline constexpr std::int64_t block_rows = float_width == 16 ? 8 : 4;
inline constexpr std::int64_t block_vectors = 3;
/// Long columns of b are fetched this many rows ahead: their lines are too far apart for the processor's own prefetching.
inline constexpr std::int64_t prefetch_rows = 16;

/// Size of block i when `total` items are spread evenly over the fewest blocks of at most `largest`.
constexpr std::int64_t even_block(std::int64_t total, std::int64_t largest) {
  const std::int64_t blocks = (total + largest - 1) / largest;
  return blocks == 0 ? 0 : (total + blocks - 1) / blocks;
}

/// A block of `rows` x `vectors` vectors of the result, b and c contiguous along n: rows of b times elements of a.
template <MatMulShape s, class Batch, std::int64_t rows, std::int64_t vectors>
inline void outer_block(const float* a, const float* b, float* c) {
  constexpr auto width = static_cast<std::int64_t>(Batch::size);
  Batch sum[rows][vectors];
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < vectors; ++j) sum[i][j] = Batch(0.f);
  for (std::int64_t k = 0; k < s.k; ++k) {
    Batch row[vectors];
    for (std::int64_t j = 0; j < vectors; ++j) {
      row[j] = Batch::load_unaligned(b + k * s.b_k + j * width);
      if constexpr (s.k > 2 * prefetch_rows) __builtin_prefetch(b + (k + prefetch_rows) * s.b_k + j * width);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const Batch element(a[i * s.a_m + k * s.a_k]);
      for (std::int64_t j = 0; j < vectors; ++j) sum[i][j] = xsimd::fma(element, row[j], sum[i][j]);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < vectors; ++j) sum[i][j].store_unaligned(c + i * s.c_m + j * width);
}

/// `vectors` columns of vectors, all rows.
template <MatMulShape s, class Batch, std::int64_t vectors>
inline void outer_columns(const float* a, const float* b, float* c) {
  constexpr std::int64_t rows = even_block(s.m, block_rows), rest = s.m % rows;
  std::int64_t i = 0;
  for (; i + rows <= s.m; i += rows) outer_block<s, Batch, rows, vectors>(a + i * s.a_m, b, c + i * s.c_m);
  if constexpr (rest > 0) outer_block<s, Batch, rest, vectors>(a + i * s.a_m, b, c + i * s.c_m);
}

/// The columns from n on that full vectors do not cover: narrower vectors, then single elements.
template <MatMulShape s, std::int64_t n, std::int64_t width>
inline void outer_rest(const float* a, const float* b, float* c) {
  if constexpr (n < s.n && width >= 4) {
    if constexpr (constexpr std::int64_t vectors = (s.n - n) / width; vectors > 0)
      outer_columns<s, xsimd::make_sized_batch_t<float, static_cast<std::size_t>(width)>, vectors>(a, b + n, c + n);
    outer_rest<s, n + (s.n - n) / width * width, width / 2>(a, b, c);
  } else if constexpr (n < s.n) {
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = n; j < s.n; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < s.k; ++k) sum += a[i * s.a_m + k * s.a_k] * b[k * s.b_k + j];
        c[i * s.c_m + j] = sum;
      }
  }
}

/// b and c are contiguous along n.
template <MatMulShape s>
inline void outer_matmul(const float* a, const float* b, float* c) {
  constexpr std::int64_t vectors = s.n / float_width;
  if constexpr (vectors > 0) {
    constexpr std::int64_t block = even_block(vectors, block_vectors), rest = vectors % block;
    std::int64_t j = 0;
    for (; j + block <= vectors; j += block) outer_columns<s, FloatBatch, block>(a, b + j * float_width, c + j * float_width);
    if constexpr (rest > 0) outer_columns<s, FloatBatch, rest>(a, b + j * float_width, c + j * float_width);
  }
  outer_rest<s, vectors * float_width, float_width / 2>(a, b, c);
}

/// A block of `rows` x `columns` elements of the result, a and b contiguous along k: products of vectors, then their sums.
template <MatMulShape s, std::int64_t rows, std::int64_t columns>
inline void inner_block(const float* a, const float* b, float* c) {
  FloatBatch sum[rows][columns];
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) sum[i][j] = FloatBatch(0.f);
  constexpr std::int64_t vectors_end = s.k / float_width * float_width;
  for (std::int64_t k = 0; k < vectors_end; k += float_width) {
    FloatBatch column[columns];
    for (std::int64_t j = 0; j < columns; ++j) column[j] = FloatBatch::load_unaligned(b + j * s.b_n + k);
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch row = FloatBatch::load_unaligned(a + i * s.a_m + k);
      for (std::int64_t j = 0; j < columns; ++j) sum[i][j] = xsimd::fma(row, column[j], sum[i][j]);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      float total = math::sum(sum[i][j]);
      for (std::int64_t k = vectors_end; k < s.k; ++k) total += a[i * s.a_m + k] * b[j * s.b_n + k];
      c[i * s.c_m + j * s.c_n] = total;
    }
}

/// a and b are contiguous along k.
template <MatMulShape s>
inline void inner_matmul(const float* a, const float* b, float* c) {
  constexpr std::int64_t rows = even_block(s.m, block_rows), rows_rest = s.m % rows;
  constexpr std::int64_t columns = even_block(s.n, block_vectors), columns_rest = s.n % columns;
  const auto all_rows = [&]<std::int64_t width>(std::integral_constant<std::int64_t, width>, std::int64_t j) {
    std::int64_t i = 0;
    for (; i + rows <= s.m; i += rows) inner_block<s, rows, width>(a + i * s.a_m, b + j * s.b_n, c + i * s.c_m + j * s.c_n);
    if constexpr (rows_rest > 0) inner_block<s, rows_rest, width>(a + i * s.a_m, b + j * s.b_n, c + i * s.c_m + j * s.c_n);
  };
  std::int64_t j = 0;
  for (; j + columns <= s.n; j += columns) all_rows(std::integral_constant<std::int64_t, columns>{}, j);
  if constexpr (columns_rest > 0) all_rows(std::integral_constant<std::int64_t, columns_rest>{}, j);
}

}  // namespace detail

/// c = a b for one matrix of static extents. Floats use register-blocked vector kernels where an operand is contiguous along
/// an axis that they can follow; half precision sums in float.
template <MatMulShape s, class A, class B, class C>
inline void matmul_kernel(const A* a, const B* b, C* c) {
  constexpr bool floats = std::is_same_v<A, float> && std::is_same_v<B, float> && std::is_same_v<C, float>;
  constexpr auto along_n = [](const MatMulShape& p) { return (p.b_n == 1 || p.n == 1) && (p.c_n == 1 || p.n == 1) && p.n >= 4; };
  if constexpr (floats && along_n(s)) {
    detail::outer_matmul<s>(a, b, c);
  } else if constexpr (floats && s.a_k == 1 && s.b_k == 1 && s.k >= detail::float_width) {
    detail::inner_matmul<s>(a, b, c);
  } else if constexpr (floats && along_n(s.transposed())) {
    detail::outer_matmul<s.transposed()>(b, a, c);
  } else {
    using Sum = compute_t<C>;
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        Sum sum{};
        for (std::int64_t k = 0; k < s.k; ++k)
          sum = static_cast<Sum>(sum + static_cast<Sum>(a[i * s.a_m + k * s.a_k]) * static_cast<Sum>(b[k * s.b_k + j * s.b_n]));
        c[i * s.c_m + j * s.c_n] = static_cast<C>(sum);
      }
  }
}


template <MatMulShape s, class A, class B, class Epilogue>
  requires(!std::is_pointer_v<Epilogue>)
inline void matmul_kernel(const A* a, const B* b, const Epilogue& epilogue) {
  constexpr MatMulShape dense = [] {
    MatMulShape r = s;
    r.c_m = s.n;
    r.c_n = 1;
    return r;
  }();
  static thread_local float block[s.m * s.n];
  matmul_kernel<dense>(a, b, block);
  for (std::int64_t i = 0; i < s.m; ++i) {
    std::int64_t j = 0;
    for (; j + detail::float_width <= s.n; j += detail::float_width)
      epilogue(i, j, detail::FloatBatch::load_unaligned(block + i * s.n + j));
    for (; j < s.n; ++j) epilogue(i, j, block[i * s.n + j]);
  }
}

}  // namespace tilewright
