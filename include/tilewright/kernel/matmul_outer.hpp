#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/matmul_epilogue.hpp"
#include "tilewright/kernel/matmul_pack.hpp"
#include "tilewright/kernel/matmul_shape.hpp"

namespace tilewright::detail {

/// Registers for sums and a row of b; elements of a are broadcast from memory with AVX-512, through a register else.
inline constexpr std::int64_t block_registers = float_width == 16 ? 31 : 15;
inline constexpr std::int64_t l1_floats = 32 * 1024 / 4;
/// Most floats of a panel of b on the stack, and of partial sums.
inline constexpr std::int64_t panel_floats = 96 * 1024 / 4;

/// How a product is cut up: strips of columns, blocks of rows in them, parts of k.
struct OuterPlan {
  std::int64_t vectors = 1, rows = 1;  // of a register block
  bool packed = false;                 // strips of b are copied to the stack
  bool short_sums = false;             // sums of few terms: blocks go along rows of c, and registers straight to the epilogue
  std::int64_t k_part = 1, m_part = 1;
};

/// Half cycles a step of k takes in all blocks of strips of `vectors` and `rows`, if two vectors a cycle are multiplied or
/// loaded and a sum can grow every 4 cycles; loads count a little where they do not matter.
constexpr std::int64_t block_cost(std::int64_t m, std::int64_t n_vectors, std::int64_t rows, std::int64_t vectors) {
  const auto block = [](std::int64_t r, std::int64_t v) {
    return r == 0 || v == 0 ? 0 : 16 * std::max({r * v, r + v, std::int64_t{8}}) + r + v;
  };
  const auto strip = [&](std::int64_t v) { return m / rows * block(rows, v) + block(m % rows, v); };
  return n_vectors / vectors * strip(vectors) + strip(n_vectors % vectors);
}

constexpr OuterPlan outer_plan(const MatMulShape& s) {
  OuterPlan plan;
  const std::int64_t n_vectors = ceil_div(s.n, float_width);
  std::int64_t best = 0;
  for (std::int64_t most = 1; most <= 8; ++most) {
    const std::int64_t vectors = even_block(n_vectors, most);
    const std::int64_t most_rows = (block_registers - vectors - (float_width == 16 ? 0 : 1)) / vectors;
    if (most_rows == 0) break;
    const std::int64_t rows = even_block(s.m, std::min<std::int64_t>(most_rows, 14));
    const std::int64_t cost = block_cost(s.m, n_vectors, rows, vectors);
    if (best == 0 || cost < best) best = cost, plan.vectors = vectors, plan.rows = rows;
  }
  const std::int64_t strip = plan.vectors * float_width;
  plan.short_sums = s.k <= 32 && s.k * n_vectors * float_width <= l1_floats;
  plan.packed = s.b_n != 1 || (s.m >= 32 && s.k >= 64);
  plan.k_part = s.k;
  plan.m_part = s.m;
  if (plan.packed && s.k * strip > panel_floats) {
    plan.k_part = panel_floats / strip / float_width * float_width;
    plan.k_part = ceil_div(even_block(s.k, plan.k_part), float_width) * float_width;
    plan.m_part = std::min(s.m, panel_floats / 2 / strip / plan.rows * plan.rows);
  }
  return plan;
}

/// Sums of a block of `rows` x `columns` elements over k_count terms: elements of a times rows of b, which are b_k apart. They
/// start from start(i, v), vector v of row i, and go to finish(i, v, sum).
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, bool prefetch, class Start, class Finish>
inline void outer_block(const float* a, const float* b, std::int64_t k_count, const Start& start, const Finish& finish) {
  constexpr std::int64_t vectors = ceil_div(columns, float_width), last = columns - (vectors - 1) * float_width;
  FloatBatch sum[rows][vectors];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = start(i, v);
  for (std::int64_t k = 0; k < k_count; ++k) {
    FloatBatch row[vectors];
    const float* b_row = b + k * b_k;
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) {
      if (v + 1 < vectors) row[v] = FloatBatch::load_unaligned(b_row + v * float_width);
      else row[v] = load_first<last>(b_row + v * float_width);
      if constexpr (prefetch) __builtin_prefetch(b_row + prefetch_rows * b_k + v * float_width);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch element(a[i * s.a_m + k * s.a_k]);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = xsimd::fma(element, row[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) finish(i, v, sum[i][v]);
}

/// A block whose sums are complete after one pass over k. Rows of b have `b_columns` columns to read: more than `columns` where b
/// is a padded panel.
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, std::int64_t b_columns, bool prefetch,
          class Epilogue>
inline void whole_block(const float* a, const float* b, std::int64_t i0, std::int64_t j0, const Epilogue& epilogue) {
  constexpr std::int64_t full = columns / float_width, stride = ceil_div(columns, float_width) * float_width;
  constexpr auto zero = [](std::int64_t, std::int64_t) { return FloatBatch(0.f); };
  if constexpr (outer_plan(s).short_sums) {
    outer_block<s, b_k, rows, b_columns, prefetch>(a, b, s.k, zero, [&](std::int64_t i, std::int64_t v, const FloatBatch& sum) {
      if (v < full) return epilogue(i0 + i, j0 + v * float_width, sum);
      alignas(line_bytes) float rest[float_width];
      sum.store_aligned(rest);
      finish_row<columns % float_width>(rest, i0 + i, j0 + full * float_width, epilogue);
    });
  } else {
    // Through the stack, so that the epilogue's code is there once and not for every register.
    alignas(line_bytes) float sums[rows * stride];
    outer_block<s, b_k, rows, b_columns, prefetch>(a, b, s.k, zero, [&](std::int64_t i, std::int64_t v, const FloatBatch& sum) {
      sum.store_aligned(sums + i * stride + v * float_width);
    });
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < rows; ++i) finish_row<columns>(sums + i * stride, i0 + i, j0, epilogue);
  }
}

/// Calls f(constant number of rows, first row) for blocks of `rows` in [begin, end), where end - begin is `count` modulo rows.
template <std::int64_t rows, std::int64_t count, class F>
inline void for_each_row_block(std::int64_t begin, std::int64_t end, const F& f) {
  std::int64_t i = begin;
  for (; i + rows <= end; i += rows) f(std::integral_constant<std::int64_t, rows>{}, i);
  if constexpr (count % rows > 0)
    if (i < end) f(std::integral_constant<std::int64_t, count % rows>{}, i);
}
/// Calls f(constant number of columns, first column) for every strip.
template <MatMulShape s, class F>
inline void for_each_strip(const F& f) {
  constexpr std::int64_t columns = std::min(s.n, outer_plan(s).vectors * float_width);
  std::int64_t j = 0;
  for (; j + columns <= s.n; j += columns) f(std::integral_constant<std::int64_t, columns>{}, j);
  if constexpr (s.n % columns > 0) f(std::integral_constant<std::int64_t, s.n % columns>{}, j);
}

/// `columns` columns from j on, with b's strip on the stack, one part of k after the other.
template <MatMulShape s, std::int64_t columns, class Epilogue>
inline void packed_strip(const float* a, const float* b, std::int64_t j, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t stride = ceil_div(columns, float_width) * float_width;
  alignas(line_bytes) float panel[plan.k_part * stride];
  if constexpr (plan.k_part >= s.k) {
    pack_panel<s, columns, s.k % float_width>(b + j * s.b_n, s.k, panel);
    for_each_row_block<plan.rows, s.m>(
        0, s.m, [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) {
          whole_block<s, stride, rows, columns, stride, false>(a + i * s.a_m, panel, i, j, epilogue);
        });
  } else {
    alignas(line_bytes) float partial[plan.m_part * stride];
    for (std::int64_t i_part = 0; i_part < s.m; i_part += plan.m_part) {
      const std::int64_t i_end = std::min(s.m, i_part + plan.m_part);
      std::fill_n(partial, (i_end - i_part) * stride, 0.f);
      for (std::int64_t k = 0; k < s.k; k += plan.k_part) {
        const std::int64_t k_count = std::min(plan.k_part, s.k - k);
        pack_panel<s, columns, s.k % float_width>(b + j * s.b_n + k * s.b_k, k_count, panel);
        for_each_row_block<plan.rows, s.m>(i_part, i_end,
                                           [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) {
                                             float* sums = partial + (i - i_part) * stride;
                                             outer_block<s, stride, rows, stride, false>(
                                                 a + i * s.a_m + k * s.a_k, panel, k_count,
                                                 [&](std::int64_t row, std::int64_t v) {
                                                   return FloatBatch::load_aligned(sums + row * stride + v * float_width);
                                                 },
                                                 [&](std::int64_t row, std::int64_t v, const FloatBatch& sum) {
                                                   sum.store_aligned(sums + row * stride + v * float_width);
                                                 });
                                           });
      }
      for (std::int64_t i = i_part; i < i_end; ++i) finish_row<columns>(partial + (i - i_part) * stride, i, j, epilogue);
    }
  }
}

/// Sums in registers along n, of elements of a times rows of b.
template <MatMulShape s, class Epilogue>
inline void outer_matmul(const float* a, const float* b, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  if constexpr (plan.packed) {
    for_each_strip<s>([&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j) {
      packed_strip<s, columns>(a, b, j, epilogue);
    });
  } else {
    constexpr bool prefetch = !plan.short_sums && s.k > 2 * prefetch_rows;
    const auto block = [&]<std::int64_t rows, std::int64_t columns>(std::integral_constant<std::int64_t, rows>, std::int64_t i,
                                                                    std::integral_constant<std::int64_t, columns>,
                                                                    std::int64_t j) {
      whole_block<s, s.b_k, rows, columns, columns, prefetch>(a + i * s.a_m, b + j, i, j, epilogue);
    };
    if constexpr (plan.short_sums)
      for_each_row_block<plan.rows, s.m>(0, s.m, [&](auto rows, std::int64_t i) {
        for_each_strip<s>([&](auto columns, std::int64_t j) { block(rows, i, columns, j); });
      });
    else
      for_each_strip<s>([&](auto columns, std::int64_t j) {
        for_each_row_block<plan.rows, s.m>(0, s.m, [&](auto rows, std::int64_t i) { block(rows, i, columns, j); });
      });
  }
}

}  // namespace tilewright::detail
