#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tilewright/kernel/attention/rounded_products.hpp"

namespace tilewright::kernel {

/// Floats of blocks: of queries, keys and scores; and of data for a mask and dropout, if there are any.
template <AttentionShape s, AttentionPlan plan = attention_plan(s)>
struct AttentionSizes {
  static constexpr auto queries = std::size_t(plan.queries), query_floats = std::size_t(plan.queries * plan.width);
  static constexpr auto key_floats = std::size_t(plan.keys * plan.width), scores = std::size_t(plan.keys * plan.queries);
  static constexpr auto hidden = s.has_mask ? queries : 1;
  static constexpr auto factors = s.drops ? std::size_t(round_up(plan.keys, float_width) * plan.queries) : 1;
};
/// Arrays of attention_forward, which are on the stack.
template <AttentionShape s, class Sizes = AttentionSizes<s>>
struct AttentionArrays {
  alignas(line_bytes) float rows[Sizes::query_floats];  // first of q, then sums of values
  alignas(line_bytes) float q_columns[Sizes::query_floats];
  alignas(line_bytes) float k_rows[Sizes::key_floats];
  alignas(line_bytes) float v_rows[Sizes::key_floats];
  alignas(line_bytes) float scores[Sizes::scores];
  alignas(line_bytes) float largest[Sizes::queries];
  alignas(line_bytes) float sums[Sizes::queries];
  alignas(line_bytes) float corrections[Sizes::queries];
  alignas(line_bytes) float hidden[Sizes::hidden];  // scores
  alignas(line_bytes) float factors[Sizes::factors];
};

/// Floats for dropout: factors of a block, and copies of the generator, with the keys of all of its rounds.
template <AttentionShape s, AttentionPlan plan = attention_plan(s)>
inline constexpr std::int64_t factor_stack_bytes = s.drops ? sizeof(FactorArrays<plan>) + 4 * sizeof(WeightDropout) : 0;

/// Bytes of the kernel's arrays on the stack.
template <AttentionShape s>
inline constexpr std::int64_t attention_stack_bytes = sizeof(AttentionArrays<s>) + factor_stack_bytes<s>;

/// Computes y = softmax(scale q k^T) v of one head, by blocks of queries and keys. logsumexp gets the logarithm of each query's
/// sum of exponentials. A block of scores has a row for each key, and its vectors run along queries. So the largest scores and
/// the sums of queries need no operation across a vector. Each block is summed separately, and the sums are then added. So the
/// error of a sum over keys is that of a sum over the keys of one block, plus one rounding for each block. A query that sees no
/// key has the result 0, and the logarithm infinity. `dropout`: a WeightDropout, which is read if s.drops; sums include all
/// weights. `next`: a NextHead, or NoNextHead.
template <AttentionShape s, class T, class Dropout, class Next = NoNextHead>
inline void attention_forward(const MatrixRows<const T>& q, const MatrixRows<const T>& k, const MatrixRows<const T>& v,
                              KeyMask mask, const MatrixRows<T>& y, float* logsumexp, std::int64_t logsumexp_stride, double scale,
                              [[maybe_unused]] const Dropout& dropout, [[maybe_unused]] const Next& next = {}) {
  constexpr AttentionPlan plan = attention_plan(s);
  AttentionArrays<s> arrays;
  auto& [rows, q_columns, k_rows, v_rows, scores, largest, sums, corrections, hidden, factors] = arrays;
  for (std::int64_t q0 = 0; q0 < s.queries; q0 += plan.queries) {
    const std::int64_t q_count = (std::min)(plan.queries, s.queries - q0);
    pack_block<plan.queries, s.width>(q, q0, q_count, query_factor<s>(scale), rows);
    transpose_block<plan.queries, plan.width>(rows, q_columns);
    std::fill_n(largest, plan.queries, -(std::numeric_limits<float>::max)());  // finite: exp(-inf - largest) is 0
    std::fill_n(sums, plan.queries, 0.f);
    std::fill_n(rows, plan.queries * plan.width, 0.f);
    if constexpr (s.has_mask)
      for (std::int64_t i = 0; i < plan.queries; ++i) hidden[i] = hidden_score<s>(mask, q0 + i);
    const auto [begin, end] = seen_keys(s, plan, q0, q_count);
    for (std::int64_t k0 = begin; k0 < end; k0 += plan.keys) {
      const ScoreBlock block = score_block(s, plan, q0, k0);
      pack_block<plan.keys, s.width>(k, k0, block.keys, 1.f, k_rows);
      const bool finite = pack_block<plan.keys, s.width, s.is_causal>(v, k0, block.keys, 1.f, v_rows);
      if constexpr (s.has_mask) clear_hidden<plan.width>(mask, k0, block.keys, v_rows);
      const auto fetch = [&](std::int64_t key) __attribute__((always_inline)) {
        if constexpr (Next::fetches) next.fetch_key(k0 + key);
        if (k0 == begin && key < q_count) fetch_row<s.width, true>(y, q0 + key);
      };
      products_of_keys<s, plan>(k_rows, q_columns, block, sum_factor<s>(scale), scores, fetch);
      if constexpr (s.has_mask)
        for (std::int64_t key = 0; key < block.keys; ++key)
          if (mask.hides(k0 + key)) std::copy_n(hidden, plan.queries, scores + key * plan.queries);
      block_softmax<plan.queries>(block, scores, largest, sums, corrections);
      if constexpr (s.drops) {
        fill_factors<s, plan>(dropout, q0, k0, block, factors);
        for (std::int64_t i = 0; i < block.keys * plan.queries; i += float_width)
          (FloatBatch::load_aligned(scores + i) * FloatBatch::load_aligned(factors + i)).store_aligned(scores + i);
      }
      sums_of_rows<s, plan.queries, plan.width, 1, plan.queries, plan.width>(
          scores, v_rows, finite, block.of_queries(),
          [&](std::int64_t i, std::int64_t j, const FloatBatch& sum) __attribute__((always_inline)) {
            float* const at = rows + i * plan.width + j;
            math::fma(FloatBatch::load_aligned(at), FloatBatch(corrections[i]), sum).store_aligned(at);
            if constexpr (Next::fetches)
              if (j == 0) next.fetch_query(q0 + i);
          });
    }
    for (std::int64_t i = 0; i < q_count; ++i) {
      const bool sees_none = s.may_hide_all() && sums[i] == 0;
      logsumexp[(q0 + i) * logsumexp_stride] = sees_none ? std::numeric_limits<float>::infinity()
                                                         : largest[i] + math::log(sums[i]);
      corrections[i] = sees_none ? 0 : 1 / sums[i];
    }
    unpack_block<s.width>(rows, q_count, y, q0, [&](std::int64_t i, const auto& x, const auto&) { return x * corrections[i]; });
  }
}

}  // namespace tilewright::kernel
