#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/pack.hpp"
#include "tilewright/kernel/matmul/vectors.hpp"
#include "tilewright/kernel/vector/lanes.hpp"
#include "tilewright/operand/matmul_shape.hpp"

namespace tilewright::kernel {

/// Prefetches nothing while a register block sums.
struct NothingAhead {
  static constexpr bool has_rows = false;
  void term(std::int64_t) const {}
  void loaded(std::int64_t, std::int64_t, const FloatBatch&) const {}
};

/// Returns the initial value of a block's sums: 0.
inline constexpr auto start_at_zero = [](std::int64_t, std::int64_t) __attribute__((always_inline)) { return FloatBatch(0.f); };
/// Sums a block of `rows` x `columns` elements over k_count terms: elements of a times rows of b, which are b_k apart. Sums start
/// from start(i, v), vector v of row i, and go to finish(i, v, sum). Calls ahead.loaded(k, v, x) with each vector of b,
/// ahead.term(k) with each term, and ahead.row(i), if it has_rows, for all rows at even distances, because caches wait for few
/// lines at a time.
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, bool prefetch, class B, class Start,
          class Finish, class Ahead = NothingAhead>
[[gnu::always_inline]] inline void outer_block(const float* a, const B* b, std::int64_t k_count, const Start& start,
                                               const Finish& finish, const Ahead& ahead = {}) {
  constexpr std::int64_t vectors = ceil_div(columns, float_width), last = columns - (vectors - 1) * float_width;
  FloatBatch sum[std::size_t(rows)][std::size_t(vectors)];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = start(i, v);
  // of b in the same columns, and near their end in the next ones
  [[maybe_unused]] const std::int64_t turn = std::max<std::int64_t>(0, k_count - prefetch_rows);
  const auto step = [&](std::int64_t k) __attribute__((always_inline)) {
    [[maybe_unused]] const B* later = b + (k < turn ? prefetch_rows * b_k : vectors * float_width - turn * b_k);
    FloatBatch row[std::size_t(vectors)];
    const B* b_row = b + k * b_k;
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) {
      if (v + 1 < vectors) row[v] = load_floats<FloatBatch>(b_row + v * float_width);
      else row[v] = load_first<last>(b_row + v * float_width);
      if constexpr (rows > 1) keep_in_register(row[v]);
      if constexpr (prefetch) __builtin_prefetch(later + k * b_k + v * float_width);
      ahead.loaded(k, v, row[v]);
    }
    ahead.term(k);
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch element(a[i * s.a_m + k * s.a_k]);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = math::fma(element, row[v], sum[i][v]);
    }
  };
  if constexpr (s.k <= 16) {
#pragma GCC unroll 16
    for (std::int64_t k = 0; k < s.k; ++k) step(k);
  } else if constexpr (Ahead::has_rows) {
    const std::int64_t distance = k_count / rows;
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      ahead.row(i);
      for (const std::int64_t end = i + 1 < rows ? k + distance : k_count; k < end; ++k) step(k);
    }
  } else {
    for (std::int64_t k = 0; k < k_count; ++k) step(k);
  }
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) finish(i, v, sum[i][v]);
}

}  // namespace tilewright::kernel
