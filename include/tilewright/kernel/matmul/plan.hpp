#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/matmul/vectors.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/sum_lengths.hpp"

namespace tilewright::kernel {

// Of each number below: its unit, why there is a limit, and in brackets the lines of `./dev bench kernels`, MatMul/..., whose
// plan changes with the number (on AVX-512).

/// Vector registers of the machine: for sums, a row of b and an element of a. [all]
inline constexpr std::int64_t block_registers = float_width == 16 ? 32 : 16;
/// Floats of blocks on the stack, 336 KB together, which a second-level cache holds: a panel of b [feed forward down], a panel of
/// a [feed forward down, dW; and a step of nanoGPT], partial sums [feed forward down].
inline constexpr std::int64_t b_panel_floats = 24 * 1024, a_panel_floats = 48 * 1024, partial_floats = 12 * 1024;
/// Floats of a panel of b if it has all columns of b: no other panel follows it in the caches, so all terms may be in it. 136 KB.
/// [feed forward down, dx: 13 % faster than with two parts of the terms]
inline constexpr std::int64_t only_b_panel_floats = 34 * 1024;
/// Floats of a panel of a if its columns fall on the same lines of the caches and b is not packed: 80 KB. [feed forward down, dW:
/// 9 % faster than with 192 KB]
inline constexpr std::int64_t columns_panel_floats = 20 * 1024;
/// Floats of a panel of a that is converted from half precision. A panel that does not hold all terms needs partial sums, or
/// repeated conversions of b. All blocks on the stack are 528 KB then. [a step of nanoGPT in float16: 1.2 % slower with half as
/// many]
inline constexpr std::int64_t converted_panel_floats = 96 * 1024;
/// Floats of a first-level cache of 32 KB, for all of a short sum's b [fc1, dW; fc2, dW], and of half a second-level cache of 1
/// MB, for the part of a that is used with each panel of b [projection; feed forward; dW at batch 80].
inline constexpr std::int64_t l1_floats = 8 * 1024, l2_floats = 128 * 1024;
/// Largest number of rows of a register block: 32 registers hold these and two vectors of b. [projection; feed forward up;
/// attention]
inline constexpr std::int64_t most_rows_of_block = 14;
/// Largest number of rows of a register block if more are slower: their accesses map to the same lines of a first-level cache
/// [feed forward down], or an epilogue that accesses memory should be spread evenly between short sums [fc1, dW; fc2, dW; and a
/// step of MNIST].
inline constexpr std::int64_t few_rows_of_block = 8;
/// Largest number of vectors of a register block: 8 leave registers for two rows. [fc1; batch 80; feed forward down: they use 3
/// or 4]
inline constexpr std::int64_t most_vectors_of_block = 8;
/// Floats of 4096 bytes: elements at this distance map to the same few lines of a first-level cache. [feed forward down, and its
/// dW]
inline constexpr std::int64_t conflict_floats = 1024;
/// Floats of 2048 bytes, for the distance between terms of a sum, rows of b or columns of a: there are more of them than rows of
/// a block, so half of 4096 bytes is slow, too. [feed forward down, and its dW]
inline constexpr std::int64_t term_conflict_floats = conflict_floats / 2;
/// Smallest number of rows of a that read a panel of b for which packing pays: each row saves less than the packing costs.
/// [fewer: batch 80; feed forward, 1/8. More: projection; feed forward; attention, weights v]
inline constexpr std::int64_t rows_for_packing = 128;
/// Smallest number of rows of a that read a panel of b for which packing pays, if a second-level cache holds b. [attention,
/// weights v; and a step of nanoGPT]
inline constexpr std::int64_t rows_for_packing_near = 192;
/// Smallest number of rows of a that read a panel of b for which packing pays, if rows of b map to the same lines of a
/// first-level cache. [batch 80; feed forward down, 1/8]
inline constexpr std::int64_t rows_for_packing_conflicts = 64;
/// Smallest number of terms for which packing a or b pays: shorter columns are few lines of a cache. [more: batch 80, dW;
/// attention, weights v]
inline constexpr std::int64_t terms_for_packing = 64;
/// Smallest number of rows of a that are used together, even if they exceed l2_floats: b is packed again for each such part.
/// [more: feed forward down]
inline constexpr std::int64_t least_rows_of_part = 64;

/// Smallest number of vectors of a row of b that are prefetched together: memory delivers the first lines of a page at a lower
/// rate than the next ones. [feed forward up, cold: 5 % slower with 2; and a step of GPT-2 124M]
inline constexpr std::int64_t fetched_vectors = 6;

/// Division of a product: parts of m, strips of columns in them, parts of k, register blocks.
struct OuterPlan {
  std::int64_t vectors = 1, rows = 1;  // of a register block
  std::int64_t m_part = 1, k_part = 1;  // rows of a and of b that are used together
  bool packs_a = false, packs_b = false;  // a part is copied to the stack: a's lines one by one, b's rows of a strip
  std::int64_t a_stride = 0;  // floats between these lines of a
  bool k_first = false;  // a part of k has all strips in turn, and sums of all of them are kept
  bool long_sums = false;  // sums of parts of k have rests
  /// Returns the lines of partial sums for each row of a block: the sums and, of long sums, the rounding errors.
  constexpr std::int64_t partial_lines() const { return long_sums ? 2 : 1; }
  bool short_sums = false;  // few terms: blocks follow rows of c, and registers go straight to the epilogue
};

/// Returns the estimated time of one step of k in all blocks of `rows` x `vectors`, in 1/32 cycles: two vectors are multiplied or
/// loaded in a cycle, and a sum grows every 4 cycles. Loads, especially those of b, count a little even if they are hidden.
constexpr std::int64_t block_cost(std::int64_t m, std::int64_t n_vectors, std::int64_t rows, std::int64_t vectors) {
  const auto block = [](std::int64_t r, std::int64_t v) {
    return r == 0 || v == 0 ? 0 : 16 * (std::max)({r * v, r + v, std::int64_t{8}}) + r + 4 * v;
  };
  const auto strip = [&](std::int64_t v) { return m / rows * block(rows, v) + block(m % rows, v); };
  return n_vectors / vectors * strip(vectors) + strip(n_vectors % vectors);
}

constexpr OuterPlan outer_plan(const MatMulShape& s) {
  OuterPlan plan;
  const std::int64_t most_of_a = s.half_a ? converted_panel_floats : a_panel_floats;
  const std::int64_t n_vectors = ceil_div(s.n, float_width);
  plan.short_sums = !s.half_a && s.k <= short_sum && s.k * n_vectors * float_width <= l1_floats;
  const bool conflicts = !s.half_a && s.a_k == 1 && s.a_m % conflict_floats == 0;
  const bool few_rows = plan.short_sums || conflicts;
  const std::int64_t row_limit = few_rows ? few_rows_of_block : most_rows_of_block;
  std::int64_t best = 0;
  for (std::int64_t most = 1; most <= (plan.short_sums && s.m >= few_rows_of_block ? 1 : most_vectors_of_block); ++most) {
    const std::int64_t vectors = even_block(n_vectors, most);
    const std::int64_t most_rows = (block_registers - 1 - vectors) / vectors;
    if (most_rows == 0) break;
    const std::int64_t rows = even_block(s.m, (std::min)(most_rows, row_limit));
    const std::int64_t cost = block_cost(s.m, n_vectors, rows, vectors);
    if (best == 0 || cost < best) best = cost, plan.vectors = vectors, plan.rows = rows;
  }
  const std::int64_t strip = plan.vectors * float_width;
  const bool is_one_strip = s.n <= strip;
  const std::int64_t most_of_b = is_one_strip ? only_b_panel_floats : b_panel_floats;
  // Half precision is converted once, in a panel, and not for each register block.
  const std::int64_t packing_rows = s.half_b                            ? 2 * plan.rows
                                    : s.n * s.k <= l2_floats            ? rows_for_packing_near
                                    : s.b_k % term_conflict_floats == 0 ? rows_for_packing_conflicts
                                                                        : rows_for_packing;
  plan.packs_b = s.b_n != 1 || (s.m >= packing_rows && s.k >= terms_for_packing);
  // Packing columns of a pays where they fall on the same lines of the caches, as a column of a line in every 2 KB does, or where
  // some strips read them and it does not make b be read again.
  // Half precision is converted: a register block would convert each element of a for each strip.
  const bool conflicting_columns = s.a_k % term_conflict_floats == 0;
  const bool packs_columns = s.a_k != 1 && s.k >= terms_for_packing && s.m >= 2 * plan.rows &&
                             n_vectors >= (conflicting_columns ? 2 : 4) * plan.vectors &&
                             (conflicting_columns || s.m * s.k <= most_of_a);
  plan.packs_a = s.half_a || packs_columns;
  plan.k_part = s.k;
  // A converted a that is too large for its panel would make b be converted again.
  plan.long_sums = is_long_product(s.k);
  const bool packs = plan.packs_b || plan.packs_a;
  const bool splits = plan.long_sums ||
                      (packs && (s.k * strip > most_of_b || (s.half_a && plan.packs_b && s.m * s.k > most_of_a)));
  plan.k_first = splits && s.m * n_vectors * float_width <= partial_floats;
  if (splits) {
    std::int64_t most = (std::min)(terms_of_product, packs ? most_of_b / strip : s.k);
    if (plan.k_first && plan.packs_a) most = (std::min)(most, most_of_a / s.m);
    plan.k_part = ceil_div(even_block(s.k, most), float_width) * float_width;
  }
  plan.m_part = s.m;
  const auto limit_rows = [&](std::int64_t most) {
    if (most >= s.m) return;
    plan.m_part = (std::min)(plan.m_part,
                             even_block(ceil_div(s.m, plan.rows), std::max<std::int64_t>(most / plan.rows, 1)) * plan.rows);
  };
  const bool short_panel = conflicting_columns && !s.half_a && !plan.packs_b;
  // lines of a panel of whole vectors are copied faster
  if (short_panel && plan.packs_a && plan.vectors > 1 && s.m % few_rows_of_block == 0)
    plan.rows = (std::min)(plan.rows, few_rows_of_block);
  if (plan.packs_a && !plan.k_first) limit_rows((short_panel ? columns_panel_floats : most_of_a) / plan.k_part);
  if (plan.k_part < s.k && !plan.k_first) limit_rows(partial_floats / strip);
  if (plan.packs_b && !is_one_strip && !plan.k_first && s.m * s.k > l2_floats)
    limit_rows(std::max<std::int64_t>(l2_floats / s.k, least_rows_of_part));
  // no multiple of conflict_floats, and whole vectors
  if (plan.packs_a) plan.a_stride = ceil_div(s.a_k == 1 ? plan.k_part : plan.m_part, float_width) * float_width + float_width;
  return plan;
}

}  // namespace tilewright::kernel
