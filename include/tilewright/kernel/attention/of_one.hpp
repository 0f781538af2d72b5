#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/attention/attention.hpp"

namespace tilewright::kernel {

/// Number of keys whose scores are on the stack at a time.
inline constexpr std::int64_t one_query_keys = 1024;
/// Largest number of vectors of a key and a value: sums of two values are in registers.
inline constexpr std::int64_t one_query_vectors = 8;

/// Returns whether the kernel for one query is used. The vectors of the other kernel have queries. It has no sums of float16.
constexpr bool is_one_query(const AttentionShape& s) {
  return s.queries == 1 && !s.is_causal && !s.drops && !s.float16_sums && ceil_div(s.width, float_width) <= one_query_vectors;
}
/// Returns how many of `count` keys are visible.
template <std::int64_t count>
[[gnu::always_inline]] inline std::int64_t count_seen(const KeyMask& mask, std::int64_t first) {
  const bool* const seen = mask.seen + first * mask.stride;
  std::int64_t result = 0;
  if (mask.stride == 1)
    for (std::int64_t i = 0; i < count; ++i) result += seen[i];
  else
    for (std::int64_t i = 0; i < count; ++i) result += seen[i * mask.stride];
  return result;
}
/// Loads vector v of a row of `width` elements, with zeros after the row's end.
template <std::int64_t width, std::int64_t v, class T>
[[gnu::always_inline]] inline FloatBatch load_of_row(const T* row) {
  return load_first<(std::min)(width - v * float_width, float_width)>(row + v * float_width);
}
/// Writes the scores of `count` keys from `first` on as a vector: -infinity after them, and `hidden` for those that the mask
/// hides.
template <AttentionShape s, std::int64_t count, class T, std::size_t vectors>
[[gnu::always_inline]] inline void scores_of_keys(const FloatBatch (&query)[vectors], const MatrixRows<const T>& k, KeyMask mask,
                                                  std::int64_t first, float hidden, float* scores) {
  FloatBatch products[FloatBatch::size];
  unrolled<float_width>([&](auto e) __attribute__((always_inline)) {
    products[e] = FloatBatch(0.f);
    const T* row = k.data + (first + e) * k.row;
    if constexpr (e < count)
      unrolled<std::int64_t(vectors)>([&](auto i) __attribute__((always_inline)) {
        products[e] = math::fma(load_of_row<s.width, i>(row), query[i], products[e]);
      });
  });
  sums_of(products).store_aligned(scores);
  if constexpr (count < float_width) std::fill_n(scores + count, float_width - count, -std::numeric_limits<float>::infinity());
  if constexpr (s.has_mask)
    if (count_seen<count>(mask, first) < count)
      for (std::int64_t e = 0; e < count; ++e)
        if (mask.hides(first + e)) scores[e] = hidden;
}

/// Arrays of attention_of_one, which are on the stack.
template <AttentionShape s>
struct OneQueryArrays {
  alignas(line_bytes) float scores[std::size_t(round_up((std::min)(s.keys, one_query_keys), float_width))];
  alignas(line_bytes) float result[std::size_t(round_up(s.width, float_width))];
};

/// Bytes of the kernel's arrays on the stack.
template <AttentionShape s>
inline constexpr std::int64_t attention_of_one_stack_bytes = sizeof(OneQueryArrays<s>);

/// Computes attention_forward of one query. Elements of a row are contiguous. Keys and values are read in the order of memory,
/// which takes most of the time. If the mask hides float_width consecutive keys, they are not read: a cache of keys has room for
/// later ones.
template <AttentionShape s, class T>
inline void attention_of_one(const T* q, const MatrixRows<const T>& k, const MatrixRows<const T>& v, KeyMask mask, T* y,
                             float* logsumexp, double scale) {
  static_assert(is_one_query(s));
  constexpr std::int64_t vectors = ceil_div(s.width, float_width), block_keys = (std::min)(s.keys, one_query_keys);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float hidden = s.has_mask ? hidden_score<s>(mask, 0) : -infinity;
  const bool reads_all = !s.has_mask || hidden != -infinity;
  FloatBatch query[std::size_t(vectors)], sums[2][std::size_t(vectors)];
  unrolled<vectors>([&](auto i) {
    query[i] = load_of_row<s.width, i>(q) * FloatBatch(static_cast<float>(scale));
    sums[0][i] = sums[1][i] = FloatBatch(0.f);
  });
  float largest = -(std::numeric_limits<float>::max)(), sum = 0;  // finite: exp(-inf - largest) is 0
  OneQueryArrays<s> arrays;
  auto& [scores, result] = arrays;
  // Calls f(first, count) for groups of keys of which some are seen: a vector of keys, or the last ones.
  const auto for_each_group = [&](std::int64_t k0, std::int64_t count, const auto& f) __attribute__((always_inline)) {
    const auto group = [&]<std::int64_t keys>(std::int64_t j, std::integral_constant<std::int64_t, keys> size)
                           __attribute__((always_inline)) {
                             if (reads_all || count_seen<keys>(mask, k0 + j) > 0) f(j, size);
                           };
    std::int64_t j = 0;
    for (; j + float_width <= count; j += float_width) group(j, std::integral_constant<std::int64_t, float_width>());
    if constexpr (s.keys % float_width > 0)
      if (j < count) group(j, std::integral_constant<std::int64_t, s.keys % float_width>());
  };
  for (std::int64_t k0 = 0; k0 < s.keys; k0 += block_keys) {
    const std::int64_t count = (std::min)(block_keys, s.keys - k0);
    std::fill_n(scores, round_up(block_keys, float_width), -infinity);
    FloatBatch most(largest);
    for_each_group(k0, count,
                   [&]<std::int64_t keys>(std::int64_t j, std::integral_constant<std::int64_t, keys>)
                       __attribute__((always_inline)) {
                         scores_of_keys<s, keys>(query, k, mask, k0 + j, hidden, scores + j);
                         most = (math::max)(most, FloatBatch::load_aligned(scores + j));
                       });
    const float correction = math::exp(largest - (math::max)(most));
    largest = (math::max)(most);
    FloatBatch exponentials(0.f);
    for (std::int64_t j = 0; j < count; j += float_width) {
      const FloatBatch x = math::exp(FloatBatch::load_aligned(scores + j) - FloatBatch(largest));
      x.store_aligned(scores + j);
      exponentials += x;
    }
    sum = sum * correction + math::sum(exponentials);
    FloatBatch before[std::size_t(vectors)];
    unrolled<vectors>([&](auto i) {
      before[i] = (sums[0][i] + sums[1][i]) * FloatBatch(correction);
      sums[0][i] = sums[1][i] = FloatBatch(0.f);
    });
    for_each_group(k0, count,
                   [&]<std::int64_t keys>(std::int64_t j, std::integral_constant<std::int64_t, keys>)
                       __attribute__((always_inline)) {
                         // 0 times what is not finite would be NaN
                         const bool some_hidden = s.has_mask && hidden == -infinity && count_seen<keys>(mask, k0 + j) < keys;
                         unrolled<keys>([&](auto e) __attribute__((always_inline)) {
                           if (some_hidden && mask.hides(k0 + j + e)) return;
                           const FloatBatch weight(scores[j + e]);
                           const T* row = v.data + (k0 + j + e) * v.row;
                           unrolled<vectors>([&](auto i) __attribute__((always_inline)) {
                             sums[e % 2][i] = math::fma(load_of_row<s.width, i>(row), weight, sums[e % 2][i]);
                           });
                         });
                       });
    unrolled<vectors>([&](auto i) { sums[0][i] += before[i]; });
  }
  const bool sees_none = s.may_hide_all() && sum == 0;
  *logsumexp = sees_none ? infinity : largest + math::log(sum);
  const FloatBatch factor(sees_none ? 0.f : 1 / sum);
  unrolled<vectors>([&](auto i) { ((sums[0][i] + sums[1][i]) * factor).store_aligned(result + i * float_width); });
  for (std::int64_t j = 0; j < s.width; ++j) y[j] = static_cast<T>(result[j]);
}

}  // namespace tilewright::kernel
