#pragma once
// Products by outer products of a and b, cut for the caches. kernel/matmul/block.hpp has the loop of a block.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/matmul/block.hpp"
#include "tilewright/kernel/matmul/epilogue.hpp"
#include "tilewright/kernel/matmul/pack.hpp"
#include "tilewright/kernel/matmul/plan.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/pieces.hpp"

namespace tilewright::kernel {

/// Returns the floats of the packed part of a.
constexpr std::int64_t a_panel_size(const MatMulShape& s) {
  const OuterPlan plan = outer_plan(s);
  return plan.packs_a ? plan.a_stride * (s.a_k == 1 ? plan.m_part : plan.k_part) : 1;
}
/// Returns the floats of the packed part of b in a strip of `columns`.
constexpr std::int64_t b_panel_size(const MatMulShape& s, std::int64_t columns) {
  const OuterPlan plan = outer_plan(s);
  return plan.packs_b ? plan.k_part * round_up(columns, float_width) : 1;
}
/// Returns the floats of sums of parts of k: of a strip, or of all strips if a part of k processes all strips in turn.
constexpr std::int64_t partial_size(const MatMulShape& s, std::int64_t columns) {
  const OuterPlan plan = outer_plan(s);
  if (plan.k_first) return plan.partial_lines() * s.m * round_up(s.n, float_width);
  return plan.k_part < s.k ? plan.partial_lines() * plan.m_part * round_up(columns, float_width) : 1;
}
/// Returns the bytes of these arrays, which are on the stack.
constexpr std::int64_t outer_stack_bytes(const MatMulShape& s) {
  const OuterPlan plan = outer_plan(s);
  if (plan.short_sums && !plan.packs_b) return 0;
  const std::int64_t columns = plan.vectors * float_width;  // of the widest strip
  const std::int64_t floats = a_panel_size(s) + b_panel_size(s, columns) + partial_size(s, columns);
  return floats * static_cast<std::int64_t>(sizeof(float)) + 3 * static_cast<std::int64_t>(line_bytes);
}

/// Returns the shape for a register block: lines of a are plan.a_stride apart if they are packed.
template <MatMulShape s>
constexpr MatMulShape block_shape() {
  constexpr OuterPlan plan = outer_plan(s);
  MatMulShape block = s;
  if (plan.packs_a && s.a_k == 1) block.a_m = plan.a_stride;
  else if (plan.packs_a) block.a_m = 1, block.a_k = plan.a_stride;
  return block;
}

/// Prefetches memory that the epilogue accesses for `columns` columns of a row.
template <std::int64_t columns, class Epilogue>
[[gnu::always_inline]] inline void prefetch_row(std::int64_t i, std::int64_t j0, const Epilogue& epilogue) {
  if constexpr (requires { epilogue.prefetch(i, j0); })
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < columns; j += float_width) epilogue.prefetch(i, j0 + j);
}
/// Rows of the next strips of b, `columns` wide, which a block prefetches to the second-level cache: one every `interval` terms.
template <std::int64_t columns, std::uint32_t interval, class B>
struct FetchedRows {
  const B* from;
  std::int64_t step;

  [[gnu::always_inline]] void term(std::int64_t k) const {
    if constexpr (columns > 0) {
      const auto at = static_cast<std::uint32_t>(k);
      if (at % interval != 0) return;
#pragma GCC unroll 16
      for (std::int64_t j = 0; j < columns; j += line_bytes / static_cast<std::int64_t>(sizeof(B)))
        __builtin_prefetch(from + at / interval * step + j, 0, 2);
    }
  }
};

/// Returns the rows of b that a block prefetches; `row` is the block's row in its part of m. The blocks of a few strips together
/// prefetch the same number of next strips, and each block prefetches a share of the rows. `strip_of_b` is the block's own strip,
/// whose first column is j.
template <MatMulShape s, class B>
[[gnu::always_inline]] inline auto rows_of_next_strips(const B* strip_of_b, std::int64_t row, std::int64_t j,
                                                       std::int64_t k_count) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t columns = plan.vectors * float_width, strips = ceil_div(fetched_vectors, plan.vectors);
  constexpr std::int64_t blocks = ceil_div(plan.m_part, plan.rows);
  const std::int64_t share = ceil_div(k_count, strips * blocks), turn = j / columns % strips;
  const std::int64_t first = (turn * blocks + row / plan.rows) * share;
  return FetchedRows<plan.packs_b && s.b_n == 1 ? strips * columns : 0, strips * blocks, B>{
      strip_of_b + (strips - turn) * columns + first * s.b_k, s.b_k};
}

/// Prefetches during a block: memory that the epilogue accesses, if its sums will be complete; columns of a, if a_k floats are
/// between them; and rows of b for the next strips. If it `packs`, the block writes its rows of b to `panel` for the blocks after
/// it.
template <std::int64_t rows, std::int64_t columns, std::int64_t a_k, bool packs, class Fetched, class Epilogue>
struct BlockAhead {
  static constexpr bool has_rows = requires(const Epilogue& e) { e.prefetch(std::int64_t{}, std::int64_t{}); };
  const Epilogue& epilogue;
  std::int64_t i0, j0;
  bool is_last;
  const float* a;
  Fetched next;
  float* panel;

  [[gnu::always_inline]] void loaded([[maybe_unused]] std::int64_t k, [[maybe_unused]] std::int64_t v,
                                     [[maybe_unused]] const FloatBatch& x) const {
    if constexpr (packs) x.store_aligned(panel + k * (ceil_div(columns, float_width) * float_width) + v * float_width);
  }
  [[gnu::always_inline]] void row(std::int64_t i) const {
    if (is_last) prefetch_row<columns>(i0 + i, j0, epilogue);
  }
  [[gnu::always_inline]] void term(std::int64_t k) const {
    if constexpr (a_k > 0)
      __builtin_prefetch(a + (k + prefetch_rows) * a_k), __builtin_prefetch(a + (k + prefetch_rows) * a_k + rows - 1);
    next.term(k);
  }
};

/// Computes a block whose sums are complete after one pass over k. Rows of b have `b_columns` columns to read: more than
/// `columns` if b is a padded panel.
template <MatMulShape s, std::int64_t b_k, std::int64_t rows, std::int64_t columns, std::int64_t b_columns, bool prefetch,
          class B, class Epilogue, class Ahead = NothingAhead>
[[gnu::always_inline]] inline void whole_block(const float* a, const B* b, std::int64_t i0, std::int64_t j0,
                                               const Epilogue& epilogue, const Ahead& ahead = {}) {
  constexpr std::int64_t full = columns / float_width, stride = ceil_div(columns, float_width) * float_width;
  const Epilogue own = epilogue;  // whose members no store can change
  const auto finish_register = [&](std::int64_t i, std::int64_t v, const FloatBatch& sum) __attribute__((always_inline)) {
    if (v < full) return own(i0 + i, j0 + v * float_width, sum);
    alignas(line_bytes) float rest[float_width];
    sum.store_aligned(rest);
    finish_row<columns % float_width>(rest, i0 + i, j0 + full * float_width, own);
  };
  if constexpr (outer_plan(s).short_sums) {
    // What the epilogue reads for the next block, while this one is computed.
    const bool last_strip = j0 + 2 * columns > s.n;
    const std::int64_t i_next = last_strip ? i0 + rows : i0;
#if defined(__GNUC__) && !defined(__clang__)  // GCC 15 and 16 do not see that the rows exist
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif
    if (i_next + rows <= s.m)
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < rows; ++i) prefetch_row<columns>(i_next + i, last_strip ? 0 : j0 + columns, epilogue);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
    outer_block<block_shape<s>(), b_k, rows, b_columns, prefetch>(a, b, s.k, start_at_zero, finish_register);
  } else if constexpr (takes_registers<Epilogue>) {
    outer_block<block_shape<s>(), b_k, rows, b_columns, prefetch>(a, b, s.k, start_at_zero, finish_register, ahead);
  } else {
    // Through the stack, so that the epilogue's code is there once and not for every register.
    alignas(line_bytes) float sums[std::size_t(rows * stride)];
    outer_block<block_shape<s>(), b_k, rows, b_columns, prefetch>(
        a, b, s.k, start_at_zero,
        [&](std::int64_t i, std::int64_t v, const FloatBatch& sum)
            __attribute__((always_inline)) { sum.store_aligned(sums + i * stride + v * float_width); },
        ahead);
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < rows; ++i) finish_row<columns>(sums + i * stride, i0 + i, j0, own);
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
/// Returns the columns of a strip; the last one may have less.
constexpr std::int64_t strip_columns(const MatMulShape& s) { return (std::min)(s.n, outer_plan(s).vectors * float_width); }
/// Calls f(constant number of columns, first column) for every strip of columns that begins in [begin, end).
template <MatMulShape s, class F>
[[gnu::always_inline]] inline void for_each_strip(std::int64_t begin, std::int64_t end, const F& f) {
  constexpr std::int64_t columns = strip_columns(s), whole = s.n / columns * columns;
  std::int64_t j = begin;
  for (const std::int64_t stop = (std::min)(end, whole); j < stop; j += columns)
    f(std::integral_constant<std::int64_t, columns>{}, j);
  if constexpr (s.n % columns > 0)
    if (j < end) f(std::integral_constant<std::int64_t, s.n % columns>{}, j);
}

/// Rows and columns of c that a kernel computes for pieces.
struct OuterRange {
  std::int64_t i_begin = 0, i_end = 0, j_begin = 0, j_end = 0;
};
/// Returns whether pieces of a product are blocks of rows, otherwise they are strips of columns. The choice minimises repeated
/// packing, and then makes enough pieces.
constexpr bool has_pieces_of_rows(const MatMulShape& s) {
  const OuterPlan plan = outer_plan(s);
  const std::int64_t strips = ceil_div(s.n, strip_columns(s)), blocks = ceil_div(s.m, plan.rows);
  if (plan.k_first) return false;
  if (strips == 1 || (!plan.packs_b && (plan.packs_a || plan.short_sums))) return true;
  return strips < 4 && strips < blocks && (!plan.packs_b || s.b_n == 1);
}
template <MatMulShape s>
[[gnu::always_inline]] inline OuterRange range_of(const Pieces& pieces) {
  if constexpr (has_pieces_of_rows(s)) {
    constexpr std::int64_t rows = outer_plan(s).rows, blocks = ceil_div(s.m, rows);
    return {pieces.begin(blocks) * rows, (std::min)(s.m, pieces.end(blocks) * rows), 0, s.n};
  } else {
    constexpr std::int64_t columns = strip_columns(s), strips = ceil_div(s.n, columns);
    return {0, s.m, pieces.begin(strips) * columns, (std::min)(s.n, pieces.end(strips) * columns)};
  }
}

/// Copies rows [begin, end) of a (from its column 0 on) to panel as floats, line by line as they are in memory.
template <MatMulShape s, class A>
inline void pack_rows(const A* a, std::int64_t begin, std::int64_t end, std::int64_t k_count, float* panel) {
  constexpr std::int64_t stride = outer_plan(s).a_stride;
  const auto convert = [](const A* from, std::int64_t count, float* to) {
    const std::int64_t in_vectors = count & -float_width;
    for (std::int64_t i = 0; i < in_vectors; i += float_width) load_floats<FloatBatch>(from + i).store_unaligned(to + i);
    for (std::int64_t i = in_vectors; i < count; ++i) to[i] = static_cast<float>(from[i]);
  };
  if constexpr (s.a_k == 1) {
    for (std::int64_t i = begin; i < end; ++i) convert(a + i * s.a_m, k_count, panel + (i - begin) * stride);
  } else if constexpr (s.a_m == 1) {
    for (std::int64_t k = 0; k < k_count; ++k) {
      const A* line = a + begin + k * s.a_k;
      for (std::int64_t i = 0; i < end - begin; i += line_bytes / static_cast<std::int64_t>(sizeof(A)))
        __builtin_prefetch(line + prefetch_rows * s.a_k + i);
      convert(line, end - begin, panel + k * stride);
    }
  } else {
    for (std::int64_t k = 0; k < k_count; ++k)
      for (std::int64_t i = begin; i < end; ++i) panel[k * stride + i - begin] = static_cast<float>(a[i * s.a_m + k * s.a_k]);
  }
}

/// Returns rows [i_begin, i_end) of a from term k on, packed in a_panel or in their place: row i of it.
template <MatMulShape s, class A>
[[gnu::always_inline]] inline const float* rows_of_a(const A* a, const float* a_panel, std::int64_t i_begin, std::int64_t i,
                                                     std::int64_t k) {
  constexpr OuterPlan plan = outer_plan(s);
  if constexpr (plan.packs_a) return a_panel + (i - i_begin) * (s.a_k == 1 ? plan.a_stride : 1);
  else return a + i * s.a_m + k * s.a_k;
}

/// Computes terms [k, k + k_count) of the sums of rows [i_begin, i_end) and `columns` columns from j on. If these are not all
/// terms of the sums, they are added to `partial`. a_panel has the rows of a if they are packed, otherwise room for them.
template <MatMulShape s, std::int64_t columns, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void outer_part(const A* a, const float* a_panel, const B* b, float* b_panel, std::int64_t i_begin,
                                              std::int64_t i_end, std::int64_t j, std::int64_t k, std::int64_t k_count,
                                              [[maybe_unused]] float* partial, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t stride = ceil_div(columns, float_width) * float_width;
  constexpr bool next_strip = plan.packs_b && s.b_n == 1;
  constexpr bool far_a = !plan.packs_a && s.a_m == 1 && s.a_k > float_width && s.k > 2 * prefetch_rows;
  constexpr std::int64_t far_columns = far_a ? s.a_k : 0;
  const B* const from = b + k * s.b_k + j * s.b_n;
  if constexpr (plan.packs_b && !next_strip) pack_panel<s, columns>(from, k_count, b_panel);
  // `fresh`: b is where it was, and not packed, or packed by this block
  const auto block = [&]<std::int64_t rows, bool fresh>(std::integral_constant<std::int64_t, rows>, std::bool_constant<fresh>,
                                                        std::int64_t i) __attribute__((always_inline)) {
    constexpr std::int64_t b_columns = fresh ? columns : stride, b_k = fresh ? s.b_k : stride;
    constexpr bool packs = fresh && plan.packs_b;
    constexpr bool prefetch = fresh && !plan.short_sums && s.k > 2 * prefetch_rows;
    const auto* const rows_of_b = [&]() __attribute__((always_inline)) {
      if constexpr (fresh) return from;
      else return static_cast<const float*>(b_panel);
    }();
    const float* const a_rows = rows_of_a<s>(a, a_panel, i_begin, i, k);
    const auto fetched = rows_of_next_strips<s>(from, i - i_begin, j, k_count);
    const BlockAhead<rows, columns, far_columns, packs, decltype(fetched), Epilogue> ahead{
        epilogue, i, j, k + k_count >= s.k, a_rows, fetched, b_panel};
    if constexpr (plan.k_part >= s.k) {
      whole_block<s, b_k, rows, columns, b_columns, prefetch>(a_rows, rows_of_b, i, j, epilogue, ahead);
    } else {
      constexpr std::int64_t line = plan.partial_lines() * stride;
      float* sums = partial + (i - i_begin) * line;
      outer_block<block_shape<s>(), b_k, rows, b_columns, prefetch>(
          a_rows, rows_of_b, k_count,
          [&](std::int64_t row, std::int64_t v) __attribute__((always_inline)) {
            if constexpr (plan.long_sums) return FloatBatch(0.f);
            else return FloatBatch::load_aligned(sums + row * line + v * float_width);
          },
          [&](std::int64_t row, std::int64_t v, const FloatBatch& sum) __attribute__((always_inline)) {
            if constexpr (plan.long_sums) LongSums::add(sum, sums + row * line + v * float_width, stride);
            else sum.store_aligned(sums + row * line + v * float_width);
          },
          ahead);
    }
  };
  constexpr std::bool_constant<!plan.packs_b> in_place;
  if constexpr (next_strip) {
    const std::int64_t first_end = (std::min)(i_end, i_begin + plan.rows);
    for_each_row_block<plan.rows, s.m>(
        i_begin, first_end, [&](auto rows, std::int64_t i) __attribute__((always_inline)) { block(rows, std::true_type{}, i); });
    if (first_end < i_end)
      for_each_row_block<plan.rows, s.m>(
          first_end, i_end, [&](auto rows, std::int64_t i) __attribute__((always_inline)) { block(rows, std::false_type{}, i); });
  } else {
    for_each_row_block<plan.rows, s.m>(
        i_begin, i_end, [&](auto rows, std::int64_t i) __attribute__((always_inline)) { block(rows, in_place, i); });
  }
}

/// Passes the complete partial sums of rows [i_begin, i_end) and `columns` columns from j on to the epilogue.
template <MatMulShape s, std::int64_t columns, class Epilogue>
inline void finish_partial(float* partial, std::int64_t i_begin, std::int64_t i_end, std::int64_t j, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t stride = ceil_div(columns, float_width) * float_width;
  for (std::int64_t i = i_begin; i < i_end; ++i, partial += plan.partial_lines() * stride) {
    if constexpr (plan.long_sums) LongSums::finish(partial, stride, stride);
    finish_row<columns>(partial, i, j, epilogue);
  }
}

/// Computes rows [i_begin, i_end) and `columns` columns from j on. a_panel has the rows of a if they are packed for all of k,
/// otherwise room for them.
template <MatMulShape s, std::int64_t columns, class A, class B, class Epilogue>
inline void outer_strip(const A* a, float* a_panel, const B* b, std::int64_t i_begin, std::int64_t i_end, std::int64_t j,
                        const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t stride = ceil_div(columns, float_width) * float_width;
  alignas(line_bytes) [[maybe_unused]] float b_panel[std::size_t(b_panel_size(s, columns))];
  if constexpr (plan.k_part >= s.k) {
    outer_part<s, columns>(a, a_panel, b, b_panel, i_begin, i_end, j, 0, s.k, nullptr, epilogue);
  } else {
    constexpr std::int64_t line = plan.partial_lines() * stride;
    alignas(line_bytes) float partial[std::size_t(partial_size(s, columns))];
    std::fill_n(partial, (i_end - i_begin) * line, 0.f);
    for (std::int64_t k = 0; k < s.k; k += plan.k_part) {
      const std::int64_t k_count = (std::min)(plan.k_part, s.k - k);
      if constexpr (plan.packs_a) pack_rows<s>(a + k * s.a_k, i_begin, i_end, k_count, a_panel);
      outer_part<s, columns>(a, a_panel, b, b_panel, i_begin, i_end, j, k, k_count, partial, epilogue);
    }
    finish_partial<s, columns>(partial, i_begin, i_end, j, epilogue);
  }
}

/// Computes all rows and strips for one part of k after the other, so that each of them is read and packed once.
template <MatMulShape s, class A, class B, class Epilogue>
inline void outer_parts_of_k(const A* a, float* a_panel, const B* b, const OuterRange& range, const Epilogue& epilogue) {
  constexpr OuterPlan plan = outer_plan(s);
  constexpr std::int64_t widest = plan.vectors * float_width;
  alignas(line_bytes) [[maybe_unused]] float b_panel[std::size_t(b_panel_size(s, widest))];
  alignas(line_bytes) float partial[std::size_t(partial_size(s, widest))];  // strip by strip
  std::fill_n(partial, partial_size(s, widest), 0.f);
  constexpr std::int64_t rows = s.m * plan.partial_lines();
  for (std::int64_t k = 0; k < s.k; k += plan.k_part) {
    const std::int64_t k_count = (std::min)(plan.k_part, s.k - k);
    if constexpr (plan.packs_a) pack_rows<s>(a + k * s.a_k, 0, s.m, k_count, a_panel);
    for_each_strip<s>(range.j_begin, range.j_end,
                      [&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j) {
                        outer_part<s, columns>(a, a_panel, b, b_panel, 0, s.m, j, k, k_count, partial + rows * j, epilogue);
                      });
  }
  for_each_strip<s>(range.j_begin, range.j_end,
                    [&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j) {
                      finish_partial<s, columns>(partial + rows * j, 0, s.m, j, epilogue);
                    });
}

/// Computes sums in registers along n, of elements of a times rows of b, for pieces of c.
template <MatMulShape s, class A, class B, class Epilogue>
inline void outer_matmul(const A* a, const B* b, const Epilogue& epilogue, const Pieces& pieces) {
  constexpr OuterPlan plan = outer_plan(s);
  const OuterRange range = range_of<s>(pieces);
  if constexpr (plan.short_sums && !plan.packs_b) {
    for_each_row_block<plan.rows, s.m>(
        range.i_begin, range.i_end,
        [&]<std::int64_t rows>(std::integral_constant<std::int64_t, rows>, std::int64_t i) __attribute__((always_inline)) {
          for_each_strip<s>(range.j_begin, range.j_end,
                            [&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j)
                                __attribute__((always_inline)) {
                                  whole_block<s, s.b_k, rows, columns, columns, false>(a + i * s.a_m, b + j, i, j, epilogue);
                                });
        });
  } else {
    alignas(line_bytes) float a_panel[std::size_t(a_panel_size(s))];
    if constexpr (plan.k_first) return outer_parts_of_k<s>(a, a_panel, b, range, epilogue);
    for (std::int64_t i = range.i_begin; i < range.i_end; i += plan.m_part) {
      const std::int64_t i_end = (std::min)(range.i_end, i + plan.m_part);
      if constexpr (plan.packs_a && plan.k_part >= s.k) pack_rows<s>(a, i, i_end, s.k, a_panel);
      for_each_strip<s>(range.j_begin, range.j_end,
                        [&]<std::int64_t columns>(std::integral_constant<std::int64_t, columns>, std::int64_t j)
                            __attribute__((always_inline)) { outer_strip<s, columns>(a, a_panel, b, i, i_end, j, epilogue); });
    }
  }
}

}  // namespace tilewright::kernel
