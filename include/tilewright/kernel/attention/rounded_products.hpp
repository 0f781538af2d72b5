#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/attention/blocks.hpp"
#include "tilewright/kernel/matmul/rounded_sums.hpp"

// Products of attention's packed blocks, with sums of float32 or float16. Sums of float16 are those of an IPU's unit for products
// (kernel/matmul/rounded_sums.hpp). Operands of that unit are float16, so weights are rounded to float16 before they are
// multiplied. A factor of scores, which the unit cannot hold, is applied to the sums.

namespace tilewright::kernel {

/// Returns the factor of packed queries. Sums of float16 are multiplied by it later.
template <AttentionShape s>
constexpr float query_factor(double scale) {
  return s.float16_sums ? 1.f : static_cast<float>(scale);
}
/// Returns the factor of finished sums of products of queries, by q_rows or q_columns.
template <AttentionShape s>
constexpr float sum_factor(double scale) {
  return s.float16_sums ? static_cast<float>(scale) : 1.f;
}

/// Computes products a b of packed blocks, of m rows and n columns in whole vectors, with sums of float16. The elements of a
/// vector of a row have the terms terms(row, 1, column, float_width). A sum is rounded after each terms_of_rounded_sum terms,
/// counted from the first of the block. Elements of a are rounded to float16 first. Calls finish(row, column, sum) for each
/// vector.
template <std::int64_t m, std::int64_t n, std::int64_t a_m, std::int64_t a_k, std::int64_t b_k, class T, class Finish>
inline void rounded_block_product(const float* a, const float* b, const T& terms, const Finish& finish) {
  constexpr std::int64_t group = terms_of_rounded_sum;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; j += float_width) {
      const auto [begin, end] = terms(i, 1, j, float_width);
      FloatBatch sum(0.f);
      for (std::int64_t k0 = begin / group * group; k0 < end; k0 += group) {
        FloatBatch of_group(0.f);
        for (std::int64_t k = (std::max)(begin, k0); k < (std::min)(end, k0 + group); ++k)
          of_group = math::fma(rounded_to<element_t<float16>>(FloatBatch(a[i * a_m + k * a_k])),
                               FloatBatch::load_aligned(b + k * b_k + j), of_group);
        sum = rounded_to<element_t<float16>>(sum + of_group);
      }
      finish(i, j, sum);
    }
}

/// Computes products of a block's keys with its queries, or of values with dy: block_product, with the sums of the shape. Results
/// are multiplied by `factor`, which must be 1 with sums of float32. Calls meanwhile(i) for each row.
template <AttentionShape s, AttentionPlan plan, class Meanwhile>
inline void products_of_keys(const float* rows, const float* columns, const ScoreBlock& block, [[maybe_unused]] float factor,
                             float* products, const Meanwhile& meanwhile) {
  if constexpr (s.float16_sums)
    rounded_block_product<plan.keys, plan.queries, plan.width, 1, plan.queries>(
        rows, columns, block.of_scores(s.width), [&](std::int64_t i, std::int64_t j, const FloatBatch& sum) {
          (sum * FloatBatch(factor)).store_aligned(products + i * plan.queries + j);
        });
  else
    block_product<plan.keys, plan.queries, plan.width, 1, plan.queries>(rows, columns, block.of_scores(s.width), products,
                                                                        meanwhile);
}

/// Computes weighted_sums with the sums of the shape.
template <AttentionShape s, std::int64_t m, std::int64_t n, std::int64_t a_m, std::int64_t a_k, std::int64_t b_k, class T,
          class Finish>
inline void sums_of_rows(const float* weights, const float* rows, [[maybe_unused]] bool finite, const T& terms,
                         const Finish& finish) {
  if constexpr (s.float16_sums) rounded_block_product<m, n, a_m, a_k, b_k>(weights, rows, terms, finish);
  else weighted_sums<m, n, a_m, a_k, b_k, s.is_causal>(weights, rows, finite, terms, finish);
}

}  // namespace tilewright::kernel
