#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul_epilogue.hpp"
#include "tilewright/kernel/matmul_pack.hpp"
#include "tilewright/kernel/matmul_shape.hpp"

namespace tilewright::detail {

// Of each number below: its unit, why there is a limit, and in brackets the lines of `./dev bench kernels`, MatMul/..., whose
// plan changes with the number (on AVX-512).

/// Vector registers of the machine: for sums, a row of b and an element of a. [all]
inline constexpr std::int64_t block_registers = float_width == 16 ? 32 : 16;
/// Floats of blocks on the stack, 272 KB together, which a second-level cache holds: a panel of b [feed forward down], a panel of
/// a [feed forward down, dW], partial sums [feed forward down].
inline constexpr std::int64_t b_panel_floats = 24 * 1024, a_panel_floats = 32 * 1024, partial_floats = 12 * 1024;
/// Floats of a first-level cache of 32 KB, for all of a short sum's b [fc1, dW; fc2, dW], and of half a second-level cache of 1
/// MB, for the part of a that is used with each panel of b [projection; feed forward; dW at batch 80].
inline constexpr std::int64_t l1_floats = 8 * 1024, l2_floats = 128 * 1024;
/// Terms of a short sum: up to these, writing the result takes longer than the sum. [fc1, dW; fc2, dW; fc4, dW: 8 terms; and W1]
inline constexpr std::int64_t short_sum = 32;
/// Rows of a register block, at most: what 32 registers hold beside two vectors of b. [projection; feed forward up; attention]
inline constexpr std::int64_t most_rows_of_block = 14;
/// The same where more rows harm: their accesses fall on the same lines of a first-level cache [feed forward down], or an
/// epilogue that reads and writes memory should come evenly between short sums [fc1, dW; fc2, dW; and W1].
inline constexpr std::int64_t few_rows_of_block = 8;
/// Vectors of a register block, at most: 8 leave registers for two rows. [fc1; batch 80; feed forward down: they take 3 or 4]
inline constexpr std::int64_t most_vectors_of_block = 8;
/// Floats of 4096 bytes: elements so far apart fall on the same few lines of a first-level cache. [feed forward down, and its dW]
inline constexpr std::int64_t conflict_floats = 1024;
/// Rows of a that read a panel of b, at least, so that packing it pays: each row saves less than the packing costs. [fewer: batch
/// 80; feed forward, 1/8. More: projection; feed forward; attention, weights v]
inline constexpr std::int64_t rows_for_packing = 128;
/// Terms, at least, so that packing a or b pays: shorter columns are few lines of a cache. [more: batch 80, dW; attention,
/// weights v]
inline constexpr std::int64_t terms_for_packing = 64;
/// Rows of a that are used together, at least, even if they are more than l2_floats: b is packed again for each such part.
/// [more: feed forward down]
inline constexpr std::int64_t least_rows_of_part = 64;

/// How a product is cut up: parts of m, strips of columns in them, parts of k, register blocks.
struct OuterPlan {
  std::int64_t vectors = 1, rows = 1;  // of a register block
  std::int64_t m_part = 1, k_part = 1;  // rows of a and of b that are used together
  bool packs_a = false, packs_b = false;  // a part is copied to the stack
  std::int64_t a_stride = 0;  // floats between the lines of a's part that half precision is converted to
  bool short_sums = false;  // few terms: blocks follow rows of c, and registers go straight to the epilogue
};

/// Estimated time of one step of k in all blocks of `rows` x `vectors`, in 1/32 cycles: two vectors are multiplied or loaded in a
/// cycle, and a sum grows every 4 cycles. Loads, above all those of b, count a little even where they are hidden.
constexpr std::int64_t block_cost(std::int64_t m, std::int64_t n_vectors, std::int64_t rows, std::int64_t vectors) {
  const auto block = [](std::int64_t r, std::int64_t v) {
    return r == 0 || v == 0 ? 0 : 16 * std::max({r * v, r + v, std::int64_t{8}}) + r + 4 * v;
  };
  const auto strip = [&](std::int64_t v) { return m / rows * block(rows, v) + block(m % rows, v); };
  return n_vectors / vectors * strip(vectors) + strip(n_vectors % vectors);
}

constexpr OuterPlan outer_plan(const MatMulShape& s) {
  OuterPlan plan;
  const std::int64_t n_vectors = ceil_div(s.n, float_width);
  plan.short_sums = !s.half_a && s.k <= short_sum && s.k * n_vectors * float_width <= l1_floats;
  const bool few_rows = plan.short_sums || (!s.half_a && s.a_k == 1 && s.a_m % conflict_floats == 0);
  const std::int64_t row_limit = few_rows ? few_rows_of_block : most_rows_of_block;
  std::int64_t best = 0;
  for (std::int64_t most = 1; most <= (plan.short_sums && s.m >= few_rows_of_block ? 1 : most_vectors_of_block); ++most) {
    const std::int64_t vectors = even_block(n_vectors, most);
    const std::int64_t most_rows = (block_registers - 1 - vectors) / vectors;
    if (most_rows == 0) break;
    const std::int64_t rows = even_block(s.m, std::min(most_rows, row_limit));
    const std::int64_t cost = block_cost(s.m, n_vectors, rows, vectors);
    if (best == 0 || cost < best) best = cost, plan.vectors = vectors, plan.rows = rows;
  }
  const std::int64_t strip = plan.vectors * float_width;
  plan.packs_b = s.b_n != 1 || (s.m >= rows_for_packing && s.k >= terms_for_packing);
  // Packing a pays where its columns fall on the same lines of the caches, or where it does not make b be read again.
  // Half precision is converted: a register block would convert each element of a for each strip.
  plan.packs_a = s.half_a || (s.a_k != 1 && s.k >= terms_for_packing && n_vectors >= 2 * plan.vectors && s.m >= 2 * plan.rows &&
                              (s.a_k % conflict_floats == 0 || s.m * s.k <= a_panel_floats));
  plan.k_part = s.k;
  if ((plan.packs_b || plan.packs_a) && s.k * strip > b_panel_floats)
    plan.k_part = ceil_div(even_block(s.k, b_panel_floats / strip), float_width) * float_width;
  plan.m_part = s.m;
  const auto limit_rows = [&](std::int64_t most) {
    plan.m_part = std::min(plan.m_part,
                           even_block(ceil_div(s.m, plan.rows), std::max<std::int64_t>(most / plan.rows, 1)) * plan.rows);
  };
  if (plan.packs_a) limit_rows(a_panel_floats / plan.k_part);
  if (plan.k_part < s.k) limit_rows(partial_floats / strip);
  if (plan.packs_b && s.m * s.k > l2_floats) limit_rows(std::max<std::int64_t>(l2_floats / s.k, least_rows_of_part));
  // no multiple of conflict_floats, and whole vectors
  if (s.half_a) plan.a_stride = ceil_div(s.a_k == 1 ? plan.k_part : plan.m_part, float_width) * float_width + float_width;
  return plan;
}

/// Floats of the packed part of a.
constexpr std::int64_t a_panel_size(const MatMulShape& s) {
  const OuterPlan plan = outer_plan(s);
  if (s.half_a) return plan.a_stride * (s.a_k == 1 ? plan.m_part : plan.k_part);
  return plan.packs_a ? plan.m_part * plan.k_part : 1;
}

/// The shape that a register block of `rows` rows sees: packed rows of a lie beside each other, converted ones as in memory.
template <MatMulShape s>
constexpr MatMulShape block_shape(std::int64_t rows) {
  constexpr OuterPlan plan = outer_plan(s);
  MatMulShape block = s;
  if (s.half_a && s.a_k == 1) block.a_m = plan.a_stride;
  else if (s.half_a) block.a_m = 1, block.a_k = plan.a_stride;
  else if (plan.packs_a) block.a_m = 1, block.a_k = rows;
  return block;
}

/// Sums of a block of `rows` x `columns` elements over k_count terms: elements of a times rows of b, which are b_k apart. They
/// start from start(i, v), vector v of row i, and go to finish(i, v, sum).
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, bool prefetch, class B, class Start,
          class Finish>
[[gnu::always_inline]] inline void outer_block(const float* a, const B* b, std::int64_t k_count, const Start& start,
                                               const Finish& finish) {
  constexpr std::int64_t vectors = ceil_div(columns, float_width), last = columns - (vectors - 1) * float_width;
  FloatBatch sum[std::size_t(rows)][std::size_t(vectors)];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = start(i, v);
  const auto step = [&](std::int64_t k, [[maybe_unused]] const B* ahead) __attribute__((always_inline)) {
    FloatBatch row[std::size_t(vectors)];
    const B* b_row = b + k * b_k;
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) {
      if (v + 1 < vectors) row[v] = load_floats<FloatBatch>(b_row + v * float_width);
      else row[v] = load_first<last>(b_row + v * float_width);
      if constexpr (prefetch) __builtin_prefetch(ahead + k * b_k + v * float_width);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch element(a[i * s.a_m + k * s.a_k]);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = math::fma(element, row[v], sum[i][v]);
    }
  };
  if constexpr (s.k <= 16) {
#pragma GCC unroll 16
    for (std::int64_t k = 0; k < s.k; ++k) step(k, b);
  } else {
    // ahead in the same columns, and near their end in the next ones
    const std::int64_t turn = prefetch ? std::max<std::int64_t>(0, k_count - prefetch_rows) : k_count;
    std::int64_t k = 0;
    for (; k < turn; ++k) step(k, b + prefetch_rows * b_k);
    if constexpr (prefetch)
      for (; k < k_count; ++k) step(k, b + vectors * float_width - turn * b_k);
  }
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) finish(i, v, sum[i][v]);
}

/// A block whose sums are complete after one pass over k. Rows of b have `b_columns` columns to read: more than `columns` where b
/// is a padded panel.
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, std::int64_t b_columns, bool prefetch,
          class B, class Epilogue>
[[gnu::always_inline]] inline void whole_block(const float* a, const B* b, std::int64_t i0, std::int64_t j0,
                                               const Epilogue& epilogue) {
  constexpr std::int64_t full = columns / float_width, stride = ceil_div(columns, float_width) * float_width;
  constexpr auto zero = [](std::int64_t, std::int64_t) __attribute__((always_inline)) { return FloatBatch(0.f); };
  if constexpr (outer_plan(s).short_sums) {
    if constexpr (requires { epilogue.prefetch(i0, j0); }) {
      // What the epilogue reads for the next block, while this one is computed.
      const bool last_strip = j0 + 2 * columns > s.n;
      const std::int64_t i_next = last_strip ? i0 + rows : i0, j_next = last_strip ? 0 : j0 + columns;
      if (i_next + rows <= s.m)
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
          for (std::int64_t j = 0; j < columns; j += float_width) epilogue.prefetch(i_next + i, j_next + j);
    }
    outer_block<block_shape<s>(rows), b_k, rows, b_columns, prefetch>(
        a, b, s.k, zero, [&](std::int64_t i, std::int64_t v, const FloatBatch& sum) __attribute__((always_inline)) {
          if (v < full) return epilogue(i0 + i, j0 + v * float_width, sum);
          alignas(line_bytes) float rest[float_width];
          sum.store_aligned(rest);
          finish_row<columns % float_width>(rest, i0 + i, j0 + full * float_width, epilogue);
        });
  } else {
    // Through the stack, so that the epilogue's code is there once and not for every register.
    alignas(line_bytes) float sums[std::size_t(rows * stride)];
    outer_block<block_shape<s>(rows), b_k, rows, b_columns, prefetch>(
        a, b, s.k, zero, [&](std::int64_t i, std::int64_t v, const FloatBatch& sum) __attribute__((always_inline)) {
          sum.store_aligned(sums + i * stride + v * float_width);
        });
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < rows; ++i) finish_row<columns>(sums + i * stride, i0 + i, j0, epilogue);
  }
}

/// Calls f(constant number of rows, first row) for blocks of `rows` in [begin, end), where end - begin is `count` modulo rows.
template <std::int64_t rows, std::int64_t count, class F>
[[gnu::always_inline]] inline void for_each_row_block(std::int64_t begin, std::int64_t end, const F& f) {
  std::int64_t i = begin;
  for (; i + rows <= end; i += rows) f(std::integral_constant<std::int64_t, rows>{}, i);
  if constexpr (count % rows > 0)
    if (i < end) f(std::integral_constant<std::int64_t, count % rows>{}, i);
}
/// Calls f(constant number of columns, first column) for every strip.
template <MatMulShape s, class F>
[[gnu::always_inline]] inline void for_each_strip(const F& f) {
  constexpr std::int64_t columns = std::min(s.n, outer_plan(s).vectors * float_width);
  std::int64_t j = 0;
  for (; j + columns <= s.n; j += columns) f(std::integral_constant<std::int64_t, columns>{}, j);
  if constexpr (s.n % columns > 0) f(std::integral_constant<std::int64_t, s.n % columns>{}, j);
}

/// Copies rows [begin, end) of a (from its column 0 on) to panel, one register block after the other, each of them contiguous
/// along its rows.
template <MatMulShape s>
inline void pack_rows(const float* a, std::int64_t begin, std::int64_t end, std::int64_t k_count, float* panel) {
  for_each_row_block<outer_plan(s).rows, s.m>(begin, end,
                                              [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i)
                                                  __attribute__((always_inline)) {
                                                    const float* from = a + i * s.a_m;
                                                    float* to = panel + (i - begin) * k_count;
                                                    for (std::int64_t k = 0; k < k_count; ++k)
                                                      for (std::int64_t row = 0; row < rows; ++row)
                                                        to[k * rows + row] = from[row * s.a_m + k * s.a_k];
                                                  });
}

/// Converts rows [begin, end) of a (from its column 0 on) to panel, line by line as they are in memory.
template <MatMulShape s, class A>
inline void convert_rows(const A* a, std::int64_t begin, std::int64_t end, std::int64_t k_count, float* panel) {
  constexpr std::int64_t stride = outer_plan(s).a_stride;
  const auto convert = [](const A* from, std::int64_t count, float* to) {
    const std::int64_t in_vectors = count & -float_width;
    for (std::int64_t i = 0; i < in_vectors; i += float_width) load_floats<FloatBatch>(from + i).store_unaligned(to + i);
    for (std::int64_t i = in_vectors; i < count; ++i) to[i] = static_cast<float>(from[i]);
  };
  if constexpr (s.a_k == 1) {
    for (std::int64_t i = begin; i < end; ++i) convert(a + i * s.a_m, k_count, panel + (i - begin) * stride);
  } else if constexpr (s.a_m == 1) {
    for (std::int64_t k = 0; k < k_count; ++k) convert(a + begin + k * s.a_k, end - begin, panel + k * stride);
  } else {
    for (std::int64_t k = 0; k < k_count; ++k)
      for (std::int64_t i = begin; i < end; ++i) panel[k * stride + i - begin] = static_cast<float>(a[i * s.a_m + k * s.a_k]);
  }
}
/// Packs or converts them.
template <MatMulShape s, class A>
inline void copy_rows(const A* a, std::int64_t begin, std::int64_t end, std::int64_t k_count, float* panel) {
  if constexpr (s.half_a) convert_rows<s>(a, begin, end, k_count, panel);
  else pack_rows<s>(a, begin, end, k_count, panel);
}

/// Rows [i_begin, i_end) and `columns` columns from j on. a_panel has the rows of a if they are packed for all of k, else room.
template <MatMulShape s, std::int64_t columns, class A, class B, class Epilogue>
inline void outer_strip(const A* a, float* a_panel, const B* b, std::int64_t i_begin, std::int64_t i_end, std::int64_t j,
                        const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t stride = ceil_div(columns, float_width) * float_width;
  constexpr std::int64_t b_columns = plan.packs_b ? stride : columns, b_k = plan.packs_b ? stride : s.b_k;
  constexpr bool prefetch = !plan.packs_b && !plan.short_sums && s.k > 2 * prefetch_rows;
  alignas(line_bytes) [[maybe_unused]] float b_panel[std::size_t(plan.packs_b ? plan.k_part * stride : 1)];
  const auto rows_of_a = [&](std::int64_t i, std::int64_t k, std::int64_t k_count) __attribute__((always_inline)) {
    if constexpr (s.half_a) return static_cast<const float*>(a_panel + (i - i_begin) * (s.a_k == 1 ? plan.a_stride : 1));
    else if constexpr (plan.packs_a) return static_cast<const float*>(a_panel + (i - i_begin) * k_count);
    else return a + i * s.a_m + k * s.a_k;
  };
  const auto rows_of_b = [&](std::int64_t k, std::int64_t k_count) __attribute__((always_inline)) {
    const B* rows = b + k * s.b_k + j * s.b_n;
    if constexpr (!plan.packs_b) {
      return rows;
    } else {
      pack_panel<s, columns>(rows, k_count, b_panel);
      return static_cast<const float*>(b_panel);
    }
  };
  if constexpr (plan.k_part >= s.k) {
    const auto* b_rows = rows_of_b(0, s.k);
    for_each_row_block<plan.rows, s.m>(
        i_begin, i_end,
        [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) __attribute__((always_inline)) {
          whole_block<s, b_k, rows, columns, b_columns, prefetch>(rows_of_a(i, 0, s.k), b_rows, i, j, epilogue);
        });
  } else {
    alignas(line_bytes) float partial[std::size_t(plan.m_part * stride)];
    std::fill_n(partial, (i_end - i_begin) * stride, 0.f);
    for (std::int64_t k = 0; k < s.k; k += plan.k_part) {
      const std::int64_t k_count = std::min(plan.k_part, s.k - k);
      const auto* b_rows = rows_of_b(k, k_count);
      if constexpr (plan.packs_a) copy_rows<s>(a + k * s.a_k, i_begin, i_end, k_count, a_panel);
      for_each_row_block<plan.rows, s.m>(
          i_begin, i_end,
          [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) __attribute__((always_inline)) {
            float* sums = partial + (i - i_begin) * stride;
            outer_block<block_shape<s>(rows), b_k, rows, b_columns, prefetch>(
                rows_of_a(i, k, k_count), b_rows, k_count,
                [&](std::int64_t row, std::int64_t v)
                    __attribute__((always_inline)) { return FloatBatch::load_aligned(sums + row * stride + v * float_width); },
                [&](std::int64_t row, std::int64_t v, const FloatBatch& sum)
                    __attribute__((always_inline)) { sum.store_aligned(sums + row * stride + v * float_width); });
          });
    }
    for (std::int64_t i = i_begin; i < i_end; ++i) finish_row<columns>(partial + (i - i_begin) * stride, i, j, epilogue);
  }
}

/// Sums in registers along n, of elements of a times rows of b.
template <MatMulShape s, class A, class B, class Epilogue>
inline void outer_matmul(const A* a, const B* b, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  if constexpr (plan.short_sums && !plan.packs_b) {
    for_each_row_block<plan.rows, s.m>(
        0, s.m,
        [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) __attribute__((always_inline)) {
          for_each_strip<s>([&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j)
                                __attribute__((always_inline)) {
                                  whole_block<s, s.b_k, rows, columns, columns, false>(a + i * s.a_m, b + j, i, j, epilogue);
                                });
        });
  } else {
    alignas(line_bytes) float a_panel[std::size_t(a_panel_size(s))];
    for (std::int64_t i = 0; i < s.m; i += plan.m_part) {
      const std::int64_t i_end = std::min(s.m, i + plan.m_part);
      if constexpr (plan.packs_a && plan.k_part >= s.k) copy_rows<s>(a, i, i_end, s.k, a_panel);
      for_each_strip<s>([&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j)
                            __attribute__((always_inline)) { outer_strip<s, columns>(a, a_panel, b, i, i_end, j, epilogue); });
    }
  }
}

}  // namespace tilewright::detail
