#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/attention/attention.hpp"

namespace tilewright::kernel {

/// Largest number of weights of a block of queries that attention_gradient keeps on the stack.
inline constexpr std::int64_t kept_weights = 65536;

/// Whether gradients use the sum of p dp of each query instead of that of dy y. They do if y was rounded to half precision,
/// because that error would remain where the sum cancels with other terms. In float32, y has the same error as these terms.
template <class T>
inline constexpr bool sums_weights = !std::is_same_v<T, float>;

/// Blocks of attention_gradient. With many keys, blocks of half precision have half as many queries, so that weights of more keys
/// can be kept.
template <AttentionShape s, class T>
inline constexpr AttentionPlan attention_gradient_plan = [] {
  AttentionPlan plan = attention_plan(s);
  const std::int64_t keys = ceil_div(s.keys, plan.keys) * plan.keys;
  if (sums_weights<T> && plan.queries == attention_block_rows && keys * plan.queries > kept_weights) plan.queries /= 2;
  return plan;
}();
template <AttentionShape s, class T, AttentionPlan plan = attention_gradient_plan<s, T>>
struct AttentionGradientSizes : AttentionSizes<s, plan> {
  /// Number of blocks of keys whose weights are kept at a time.
  static constexpr std::int64_t blocks = [] {
    const std::int64_t most = std::max<std::int64_t>(1, kept_weights / (plan.keys * plan.queries));
    return sums_weights<T> ? (std::min)(ceil_div(s.keys, plan.keys), most) : 1;
  }();
  static constexpr std::size_t weights = AttentionSizes<s, plan>::scores * std::size_t(blocks);
};
/// Arrays of attention_gradient, which are on the stack.
template <AttentionShape s, class T, class Sizes = AttentionGradientSizes<s, T>>
struct AttentionGradientArrays {
  alignas(line_bytes) float q_rows[Sizes::query_floats];
  alignas(line_bytes) float q_columns[Sizes::query_floats];
  alignas(line_bytes) float dy_rows[Sizes::query_floats];
  alignas(line_bytes) float dy_columns[Sizes::query_floats];
  alignas(line_bytes) float k_rows[Sizes::key_floats];
  alignas(line_bytes) float v_rows[Sizes::key_floats];
  alignas(line_bytes) float sums[Sizes::key_floats];
  alignas(line_bytes) float dq_rows[Sizes::query_floats];
  alignas(line_bytes) float p[Sizes::weights];
  alignas(line_bytes) float ds[Sizes::weights];  // of a kept block first dp
  alignas(line_bytes) float logs[Sizes::queries];
  alignas(line_bytes) float dots[Sizes::queries];
  alignas(line_bytes) float totals[sums_weights<T> ? Sizes::queries : 1];
  alignas(line_bytes) float block_dots[sums_weights<T> ? Sizes::queries : 1];
  alignas(line_bytes) float block_totals[sums_weights<T> ? Sizes::queries : 1];
  alignas(line_bytes) float hidden[Sizes::hidden];  // scores
  alignas(line_bytes) float factors[Sizes::factors];
};
/// Vectors of a line of memory.
inline constexpr std::int64_t line_vectors = std::max<std::int64_t>(1, line_bytes / std::int64_t(sizeof(float)) / float_width);
/// Calls f(key, seen) for the keys of a block that some of `count` queries from query i on see, and skip(key) for the others.
/// seen(x, v) has zeros for the queries of vector v that do not see the key.
template <std::int64_t count, class F, class Skip>
[[gnu::always_inline]] inline void for_keys(const ScoreBlock& block, std::int64_t i, const F& f, const Skip& skip) {
  const FloatBatch zero(0.f), numbers = FloatBatch::load_aligned(lane_numbers.data());
  const std::int64_t begin = std::clamp<std::int64_t>(i - block.behind + 1, 0, block.keys);
  const std::int64_t end = std::clamp<std::int64_t>(i + count - block.ahead, begin, block.keys);
  const std::int64_t all_begin = std::clamp<std::int64_t>(i + count - block.behind, begin, end);
  const std::int64_t all_end = std::clamp<std::int64_t>(i - block.ahead + 1, all_begin, end);
  const auto some = [&](std::int64_t first, std::int64_t last) __attribute__((always_inline)) {
    for (std::int64_t key = first; key < last; ++key)
      f(key, [&](const FloatBatch& x, std::int64_t v) __attribute__((always_inline)) {
        const std::int64_t at = i + v * float_width;
        return math::select(numbers >= FloatBatch(static_cast<float>(key + block.ahead - at)) &&
                                numbers < FloatBatch(static_cast<float>(key + block.behind - at)),
                            x, zero);
      });
  };
  for (std::int64_t key = 0; key < begin; ++key) skip(key);
  if (begin < all_begin) some(begin, all_begin);
  for (std::int64_t key = all_begin; key < all_end; ++key)
    f(key, [](const FloatBatch& x, std::int64_t) __attribute__((always_inline)) { return x; });
  some(all_end, end);
  for (std::int64_t key = end; key < block.keys; ++key) skip(key);
}
/// Stores the logarithms of a block of queries, and their dots if these use y, which is in `dq_rows`.
template <AttentionShape s, class T>
[[gnu::always_inline]] inline void take_dots(AttentionGradientArrays<s, T>& arrays, const float* logsumexp, std::int64_t stride,
                                             std::int64_t count) {
  constexpr AttentionPlan plan = attention_gradient_plan<s, T>;
  for (std::int64_t i = 0; i < plan.queries; ++i) {
    FloatBatch dot(0.f);
    if constexpr (!sums_weights<T>)
      for (std::int64_t j = i * plan.width; j < (i + 1) * plan.width; j += float_width)
        dot = math::fma(FloatBatch::load_aligned(arrays.dy_rows + j), FloatBatch::load_aligned(arrays.dq_rows + j), dot);
    arrays.dots[i] = math::sum(dot);
    arrays.logs[i] = i < count ? logsumexp[i * stride] : 0.f;
  }
}
/// Computes p of a block from its scores, and ds from dp; `kept` gets p times the factors. If blocks are kept, ds remains dp, and
/// `block_dots` and `block_totals` get the block's parts of the dots and of the sums of p.
template <AttentionShape s, class T>
[[gnu::always_inline]] inline void weigh_block(AttentionGradientArrays<s, T>& arrays, const ScoreBlock& block, float* p,
                                               float* ds, float* kept) {
  constexpr std::int64_t queries = attention_gradient_plan<s, T>.queries;
  constexpr bool keeps = sums_weights<T>;
  const FloatBatch zero(0.f);
  in_blocks<queries / float_width, line_vectors>([&](std::int64_t first, auto size) __attribute__((always_inline)) {
    constexpr std::int64_t vectors = size.value;
    const std::int64_t i = first * float_width;
    FloatBatch log[std::size_t(vectors)], dot[std::size_t(vectors)], total[std::size_t(vectors)];
    unrolled<vectors>([&](auto n) {
      log[n] = FloatBatch::load_aligned(arrays.logs + i + n * float_width);
      dot[n] = keeps ? zero : FloatBatch::load_aligned(arrays.dots + i + n * float_width), total[n] = zero;
    });
    for_keys<vectors * float_width>(
        block, i,
        [&](std::int64_t key, const auto& seen) __attribute__((always_inline)) {
          unrolled<vectors>([&](auto n) __attribute__((always_inline)) {
            const std::int64_t at = key * queries + i + n * float_width;
            const FloatBatch x = seen(math::exp(FloatBatch::load_aligned(p + at) - log[n]), n);
            FloatBatch factor(1.f), dp = FloatBatch::load_aligned(ds + at);
            if constexpr (s.drops) factor = FloatBatch::load_aligned(arrays.factors + at), dp = dp * factor;
            if constexpr (keeps) {
              dot[n] += seen(x * dp, n), total[n] += x;
              if constexpr (s.drops) dp.store_aligned(ds + at), (x * factor).store_aligned(arrays.factors + at);
              x.store_aligned(p + at);
            } else {
              seen(x * (dp - dot[n]), n).store_aligned(ds + at);
              (s.drops ? x * factor : x).store_aligned(p + at);
            }
          });
        },
        [&](std::int64_t key) __attribute__((always_inline)) {
          unrolled<vectors>([&](auto n) {
            for (float* to : {kept, ds}) zero.store_aligned(to + key * queries + i + n * float_width);
          });
        });
    if constexpr (keeps)
      unrolled<vectors>([&](auto n) {
        dot[n].store_aligned(arrays.block_dots + i + n * float_width),
            total[n].store_aligned(arrays.block_totals + i + n * float_width);
      });
  });
}
/// Computes ds from dp in a kept block, when the dots are known.
template <AttentionShape s, class T>
[[gnu::always_inline]] inline void subtract_dots(const AttentionGradientArrays<s, T>& arrays, const ScoreBlock& block,
                                                 const float* p, float* ds) {
  constexpr std::int64_t queries = attention_gradient_plan<s, T>.queries;
  in_blocks<queries / float_width, line_vectors>([&](std::int64_t first, auto size) __attribute__((always_inline)) {
    constexpr std::int64_t vectors = size.value;
    const std::int64_t i = first * float_width;
    for_keys<vectors * float_width>(
        block, i,
        [&](std::int64_t key, const auto& seen) __attribute__((always_inline)) {
          unrolled<vectors>([&](auto n) __attribute__((always_inline)) {
            const std::int64_t of = i + n * float_width, at = key * queries + of;
            const FloatBatch change = FloatBatch::load_aligned(ds + at) - FloatBatch::load_aligned(arrays.dots + of);
            seen(FloatBatch::load_aligned(p + at) * change, n).store_aligned(ds + at);
          });
        },
        [](std::int64_t) {});
  });
}

/// Bytes of the kernel's arrays on the stack.
template <AttentionShape s, class T>
inline constexpr std::int64_t attention_gradient_stack_bytes = sizeof(AttentionGradientArrays<s, T>) +
                                                               factor_stack_bytes<s, attention_gradient_plan<s, T>>;

/// Computes the gradients of one head. dq is written; dk and dv are written, or added to if `adds`. With p = exp(scale q k^T -
/// logsumexp), which is recomputed by blocks, dp = dy v^T and ds = p (dp - dot): dv = p^T dy, dk = scale ds^T q, dq = scale ds k.
/// With dropout, p in dv and dp are multiplied by its factors, which are also recomputed. The dot of a query is sum(dy y) in
/// float32. In half precision, y is not read, and the dot is sum(p dp) / sum(p) over all keys; sum(p) is 1 except for the
/// rounding of logsumexp. Blocks of p and dp are therefore kept until the dot is known, and those beyond kept_weights are
/// computed again.
template <AttentionShape s, bool adds, class T, class G, class Dropout, class Next = NoNextHead>
inline void attention_gradient(const MatrixRows<const T>& q, const MatrixRows<const T>& k, const MatrixRows<const T>& v,
                               KeyMask mask, [[maybe_unused]] const MatrixRows<const T>& y, const float* logsumexp,
                               std::int64_t logsumexp_stride, const MatrixRows<const T>& dy, const MatrixRows<T>& dq,
                               const MatrixRows<G>& dk, const MatrixRows<G>& dv, double scale,
                               [[maybe_unused]] const Dropout& dropout, [[maybe_unused]] const Next& next = {}) {
  using Sizes = AttentionGradientSizes<s, T>;
  constexpr AttentionPlan plan = attention_gradient_plan<s, T>;
  constexpr std::int64_t queries = plan.queries;
  constexpr bool keeps = sums_weights<T>;
  AttentionGradientArrays<s, T> arrays;
  auto& [q_rows, q_columns, dy_rows, dy_columns, k_rows, v_rows, sums, dq_rows, all_p, all_ds, logs, dots, totals, block_dots,
         block_totals, hidden, factors] = arrays;
  const FloatBatch zero(0.f);
  static_assert(adds || is_one_block(s));
  const auto add = [](float* to, const FloatBatch& x)
                       __attribute__((always_inline)) { (FloatBatch::load_aligned(to) + x).store_aligned(to); };
  const auto give = [](std::int64_t, const auto& x, [[maybe_unused]] const auto& before) {
    if constexpr (adds) return before + x;
    else return x;
  };
  for (std::int64_t q0 = 0; q0 < s.queries; q0 += plan.queries) {
    const std::int64_t q_count = (std::min)(plan.queries, s.queries - q0);
    const bool finite_q = pack_block<plan.queries, s.width, s.is_causal>(q, q0, q_count, query_factor<s>(scale), q_rows);
    const bool finite_dy = pack_block<plan.queries, s.width, s.is_causal>(dy, q0, q_count, 1.f, dy_rows);
    if constexpr (!keeps) pack_block<plan.queries, s.width>(y, q0, q_count, 1.f, dq_rows);
    transpose_block<plan.queries, plan.width>(q_rows, q_columns);
    transpose_block<plan.queries, plan.width>(dy_rows, dy_columns);
    take_dots<s>(arrays, logsumexp + q0 * logsumexp_stride, logsumexp_stride, q_count);
    if constexpr (keeps) std::fill_n(totals, plan.queries, 0.f);
    std::fill_n(dq_rows, plan.queries * plan.width, 0.f);
    if constexpr (s.has_mask)
      for (std::int64_t i = 0; i < plan.queries; ++i) hidden[i] = hidden_score<s>(mask, q0 + i);
    const auto [begin, end] = seen_keys(s, plan, q0, q_count);
    bool finite_k = true;
    const auto pack_keys = [&](std::int64_t k0, std::int64_t count) {
      finite_k = pack_block<plan.keys, s.width, s.is_causal>(k, k0, count, 1.f, k_rows);
      if constexpr (s.has_mask) clear_hidden<plan.width>(mask, k0, count, k_rows);
    };
    const auto give_sums = [&](std::int64_t k0, const ScoreBlock& block, const float* weights, const float* of_queries,
                               bool finite, [[maybe_unused]] float factor, const MatrixRows<G>& to) {
      sums_of_rows<s, plan.keys, plan.width, plan.queries, 1, plan.width>(
          weights, of_queries, finite, block.of_keys(),
          [&](std::int64_t i, std::int64_t j, const FloatBatch& sum) __attribute__((always_inline)) {
            if constexpr (s.float16_sums) (sum * FloatBatch(factor)).store_aligned(sums + i * plan.width + j);
            else sum.store_aligned(sums + i * plan.width + j);
          });
      if constexpr (s.has_mask) clear_hidden<plan.width>(mask, k0, block.keys, sums);
      unpack_block<s.width>(sums, block.keys, to, k0, give);
    };
    const auto give_ds = [&](std::int64_t k0, const ScoreBlock& block, const float* ds) {
      give_sums(k0, block, ds, q_rows, finite_q, sum_factor<s>(scale), dk);
      sums_of_rows<s, plan.queries, plan.width, 1, plan.queries, plan.width>(
          ds, k_rows, finite_k, block.of_queries(),
          [&](std::int64_t i, std::int64_t j, const FloatBatch& sum) __attribute__((always_inline)) {
            add(dq_rows + i * plan.width + j, sum);
            if constexpr (Next::fetches)
              if (j == 0) next.fetch_query(q0 + i);
          });
    };
    const auto clear_ds = [&]([[maybe_unused]] std::int64_t k0, [[maybe_unused]] std::int64_t count, [[maybe_unused]] float* ds) {
      if constexpr (s.has_mask)
        for (std::int64_t key = 0; key < count; ++key)
          if (mask.hides(k0 + key)) std::fill_n(ds + key * queries, plan.queries, 0.f);
    };
    // Computes p of a block and ds, or dp and the block's part of the dots, if the block is kept; in `kept` p times the factors.
    const auto weigh = [&](std::int64_t k0, const ScoreBlock& block, float* p, float* ds, float* kept) {
      pack_keys(k0, block.keys);
      pack_block<plan.keys, s.width>(v, k0, block.keys, 1.f, v_rows);
      products_of_keys<s, plan>(k_rows, q_columns, block, sum_factor<s>(scale), p,
                                [&](std::int64_t key) __attribute__((always_inline)) {
                                  if constexpr (Next::fetches) next.fetch_key(k0 + key);
                                });
      products_of_keys<s, plan>(v_rows, dy_columns, block, 1.f, ds, [](std::int64_t) __attribute__((always_inline)) {});
      if constexpr (s.drops) fill_factors<s, plan>(dropout, q0, k0, block, factors);
      if constexpr (s.has_mask) {
        for (std::int64_t key = 0; key < block.keys; ++key) {
          if (!mask.hides(k0 + key)) continue;
          std::copy_n(hidden, plan.queries, p + key * queries);
          if (mask.hidden_score == -std::numeric_limits<float>::infinity())
            std::fill_n(ds + key * queries, plan.queries, 0.f);  // what is hidden may be not finite
        }
      }
      weigh_block<s>(arrays, block, p, ds, kept);
      if constexpr (!keeps) clear_ds(k0, block.keys, ds);
    };
    const auto block_at = [&](std::int64_t k0, const auto& f) {
      const std::int64_t at = k0 / plan.keys % Sizes::blocks * plan.keys * plan.queries;
      f(score_block(s, plan, q0, k0), all_p + at, all_ds + at, keeps && s.drops ? factors : all_p + at);
    };
    for (std::int64_t k0 = begin; k0 < end; k0 += plan.keys)
      block_at(k0, [&](const ScoreBlock& block, float* p, float* ds, float* kept) {
        weigh(k0, block, p, ds, kept);
        give_sums(k0, block, kept, dy_rows, finite_dy, 1.f, dv);
        if constexpr (!keeps) give_ds(k0, block, ds);
        else
          for (std::int64_t i = 0; i < plan.queries; i += float_width)
            add(dots + i, FloatBatch::load_aligned(block_dots + i)), add(totals + i, FloatBatch::load_aligned(block_totals + i));
      });
    if constexpr (keeps) {
      for (std::int64_t i = 0; i < plan.queries; i += float_width) {
        const FloatBatch total = FloatBatch::load_aligned(totals + i);
        math::select(total == zero, zero, FloatBatch::load_aligned(dots + i) / total).store_aligned(dots + i);
      }
      const std::int64_t last = begin + (ceil_div(end - begin, plan.keys) - 1) * plan.keys;
      for (std::int64_t k0 = last; k0 >= begin; k0 -= plan.keys)
        block_at(k0, [&](const ScoreBlock& block, float* p, float* ds, float* kept) {
          if (Sizes::blocks * plan.keys < s.keys && k0 <= last - Sizes::blocks * plan.keys) weigh(k0, block, p, ds, kept);
          else if (k0 < last) pack_keys(k0, block.keys);
          subtract_dots<s>(arrays, block, p, ds);
          clear_ds(k0, block.keys, ds);
          give_ds(k0, block, ds);
        });
    }
    unpack_block<s.width>(dq_rows, q_count, dq, q0,
                          [&](std::int64_t, const auto& x, const auto&) { return x * static_cast<float>(scale); });
  }
}

}  // namespace tilewright::kernel
