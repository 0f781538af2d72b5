#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/outer.hpp"
#include "tilewright/kernel/random/random.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/kernel/vector/lanes.hpp"
#include "tilewright/operand/attention_shape.hpp"

namespace tilewright::kernel {

/// A matrix in memory; the strides are in elements.
template <class T>
struct MatrixRows {
  T* data;
  std::int64_t row, element;  ///< strides
};

/// Visible keys.
struct KeyMask {
  const bool* seen = nullptr;
  std::int64_t stride = 0;
  float hidden_score = -std::numeric_limits<float>::infinity();  ///< score that replaces those of hidden keys
  bool hides(std::int64_t key) const { return !seen[key * stride]; }
};

/// Dropout of the weights of one head; the weights are numbered as a tensor (batch, heads, queries, keys) of them would be.
struct WeightDropout {
  DropoutFactors<float> factors;
  std::int64_t first = 0;  ///< number of the head's first weight
};

struct AttentionPlan {
  std::int64_t queries = 1, keys = 1;  ///< of a block; queries are whole vectors
  std::int64_t width = 1;              ///< of a packed row: whole vectors
};
constexpr AttentionPlan attention_plan(const AttentionShape& s) {
  AttentionPlan plan;
  plan.width = round_up(s.width, float_width);
  const std::int64_t fitting = attention_block_floats / plan.width / float_width * float_width;
  const std::int64_t most = (std::max)(float_width, (std::min)(attention_block_rows, fitting));
  plan.queries = round_up(even_block(s.queries, most), float_width);
  plan.keys = even_block(s.keys, most);
  return plan;
}

/// Copies `count` rows from row `first` on, times a factor, to rows of whole vectors. Zeros fill these rows and the rest of
/// `rows`. If `tests`, returns whether all are finite.
template <std::int64_t rows, std::int64_t width, bool tests = false, class T>
inline bool pack_block(const MatrixRows<const T>& from, std::int64_t first, std::int64_t count, float factor, float* to) {
  constexpr std::int64_t padded = round_up(width, float_width), last = width - (padded - float_width);
  const FloatBatch factors(factor);
  [[maybe_unused]] FloatBatch zeros(0.f);  // NaN, where an element is not finite
  const auto store = [&](const FloatBatch& x, float* at) __attribute__((always_inline)) {
    if constexpr (tests) zeros = math::fma(x, FloatBatch(0.f), zeros);
    x.store_aligned(at);
  };
  for (std::int64_t i = 0; i < count; ++i, to += padded) {
    const T* row = from.data + (first + i) * from.row;
    if (from.element == 1 && (std::is_same_v<T, float> || last == float_width)) {
      for (std::int64_t j = 0; j < padded - float_width; j += float_width)
        store(load_floats<FloatBatch>(row + j) * factors, to + j);
      if constexpr (std::is_same_v<T, float>)
        store(load_first<last>(row + padded - float_width) * factors, to + padded - float_width);
      else store(load_floats<FloatBatch>(row + padded - float_width) * factors, to + padded - float_width);
    } else {
      for (std::int64_t j = 0; j < width; ++j) to[j] = static_cast<float>(row[j * from.element]) * factor;
      for (std::int64_t j = width; j < padded; ++j) to[j] = 0;
      if constexpr (tests)
        for (std::int64_t j = 0; j < padded; j += float_width) store(FloatBatch::load_aligned(to + j), to + j);
    }
  }
  std::fill_n(to, (rows - count) * padded, 0.f);
  return !tests || math::sum(zeros) == 0;
}
/// Sets rows of keys that a mask hides to zero, unless their weights are not 0, because a weight of 0 times infinity or NaN is
/// NaN.
template <std::int64_t width>
inline void clear_hidden(const KeyMask& mask, std::int64_t first, std::int64_t count, float* rows) {
  if (mask.hidden_score != -std::numeric_limits<float>::infinity()) return;
  for (std::int64_t key = 0; key < count; ++key)
    if (mask.hides(first + key)) std::fill_n(rows + key * width, width, 0.f);
}
/// Prefetches a row of a matrix, for writes if requested.
template <std::int64_t width, bool writes, class T>
[[gnu::always_inline]] inline void fetch_row(const MatrixRows<T>& rows, std::int64_t row) {
  constexpr std::int64_t in_line = line_bytes / static_cast<std::int64_t>(sizeof(T));
  unrolled<ceil_div(width, in_line)>([&](auto i) __attribute__((always_inline)) {
    __builtin_prefetch(rows.data + row * rows.row + i * in_line, writes ? 1 : 0);
  });
}
/// Prefetches nothing while a head is computed.
struct NoNextHead {
  static constexpr bool fetches = false;
};
/// Prefetches rows of the next head, which usually is a worker's next one. Processors do not prefetch them, because each is a few
/// lines far from the others. A head that is so large that it would displace the current one is not prefetched.
template <AttentionShape s, class T, std::size_t query_matrices>
struct NextHead {
  static constexpr bool fetches = (std::max)(s.queries, s.keys) * attention_plan(s).width <= attention_block_floats;
  std::array<MatrixRows<const T>, 2> of_keys;
  std::array<MatrixRows<const T>, query_matrices> of_queries;

  [[gnu::always_inline]] void fetch_key(std::int64_t row) const {
    unrolled<2>([&](auto i) __attribute__((always_inline)) { fetch_row<s.width, false>(of_keys[i], row); });
  }
  [[gnu::always_inline]] void fetch_query(std::int64_t row) const {
    unrolled<query_matrices>([&](auto i) __attribute__((always_inline)) { fetch_row<s.width, false>(of_queries[i], row); });
  }
};
/// Transposes a packed block; both extents are whole vectors.
template <std::int64_t rows, std::int64_t columns>
inline void transpose_block(const float* from, float* to) {
  for (std::int64_t i = 0; i < rows; i += float_width)
    for (std::int64_t j = 0; j < columns; j += float_width) {
      FloatBatch square[FloatBatch::size];
#pragma GCC unroll 16
      for (std::int64_t e = 0; e < float_width; ++e) square[e] = FloatBatch::load_aligned(from + (i + e) * columns + j);
      transpose(square);
#pragma GCC unroll 16
      for (std::int64_t e = 0; e < float_width; ++e) square[e].store_aligned(to + (j + e) * rows + i);
    }
}
/// Calls f(packed batch or element, element in memory) for the elements of `count` rows from row `first` on, and stores the
/// result.
template <std::int64_t width, class T, class F>
inline void unpack_block(const float* from, std::int64_t count, const MatrixRows<T>& to, std::int64_t first, const F& f) {
  constexpr std::int64_t padded = round_up(width, float_width);
  for (std::int64_t i = 0; i < count; ++i, from += padded) {
    T* row = to.data + (first + i) * to.row;
    std::int64_t j = 0;
    if (to.element == 1)
      for (; j + float_width <= width; j += float_width)
        store_floats(row + j, f(i, FloatBatch::load_aligned(from + j), load_floats<FloatBatch>(row + j)));
#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 for ARM counts beyond `width`
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif
    for (; j < width; ++j) row[j * to.element] = static_cast<T>(f(i, from[j], static_cast<float>(row[j * to.element])));
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  }
}

/// Numbers of the lanes: lane i has the number i.
alignas(line_bytes) inline constexpr std::array<float, std::size_t(float_width)> lane_numbers = [] {
  std::array<float, std::size_t(float_width)> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<float>(i);
  return result;
}();
/// The terms of a sum from `begin` to `end` - 1.
struct Terms {
  std::int64_t begin, end;
};
/// Terms that tell which columns a block of rows skips.
template <class T>
concept SkipsColumns = requires(const T& terms) { terms.skips(std::int64_t{}, std::int64_t{}); };
/// Computes products a b of packed blocks: m rows, n columns in whole vectors. A register block of `rows` rows from row i on and
/// `columns` columns from j on has the terms terms(i, rows, j, columns). Sums start from start(i, j) for the vector of row i from
/// column j on, and go to finish(i, j, sum). Blocks have few rows, because a block uses the terms of all its rows. A strip has
/// two vectors. If terms.skips(i, column after the first vector), the first vector is not computed, and finish is not called for
/// it.
template <std::int64_t m, std::int64_t n, std::int64_t a_m, std::int64_t a_k, std::int64_t b_k, std::int64_t most_rows, class T,
          class Start, class Finish>
inline void block_product(const float* a, const float* b, const T& terms, const Start& start, const Finish& finish) {
  constexpr std::int64_t vectors = std::min<std::int64_t>(n / float_width, 2), columns = vectors * float_width;
  constexpr std::int64_t rows = even_block(m, (std::min)((block_registers - 1 - vectors) / vectors, most_rows));
  constexpr MatMulShape s{.m = m, .n = n, .k = 64, .a_m = a_m, .a_k = a_k};  // more terms than outer_block unrolls
  in_blocks<n, columns>([&](std::int64_t j, auto strip) {
    for_each_row_block<rows, m>(
        0, m,
        [&]<std::int64_t count>(std::integral_constant<std::int64_t, count>, std::int64_t i) __attribute__((always_inline)) {
          const auto [begin, end] = terms(i, count, j, strip.value);
          const auto block = [&](auto width, std::int64_t at) __attribute__((always_inline)) {
            outer_block<s, b_k, count, width.value, false>(
                a + i * a_m + begin * a_k, b + at + begin * b_k, end - begin,
                [&](std::int64_t row, std::int64_t v)
                    __attribute__((always_inline)) { return start(i + row, at + v * float_width); },
                [&](std::int64_t row, std::int64_t v, const FloatBatch& sum)
                    __attribute__((always_inline)) { finish(i + row, at + v * float_width, sum); });
          };
          if constexpr (SkipsColumns<T>) {  // by itself, as Clang reads the lambda's other conditions later
            if constexpr (strip.value == 2 * float_width)
              if (terms.skips(i, j + float_width))
                return block(std::integral_constant<std::int64_t, float_width>{}, j + float_width);
          }
          block(strip, j);
        });
  });
}
/// Computes the product of weights, of which those that `terms` skips are 0, with rows that may be `finite` or not. A register
/// block has the terms of all its rows, with weights of 0 among them, and 0 times a finite number is 0. If `tests`, rows that are
/// not finite are multiplied row by row, so that each uses its own terms only.
template <std::int64_t m, std::int64_t n, std::int64_t a_m, std::int64_t a_k, std::int64_t b_k, bool tests, class T, class Finish>
inline void weighted_sums(const float* a, const float* b, [[maybe_unused]] bool finite, const T& terms, const Finish& finish) {
  if constexpr (tests)
    if (!finite) return block_product<m, n, a_m, a_k, b_k, 1>(a, b, terms, start_at_zero, finish);
  block_product<m, n, a_m, a_k, b_k, few_rows_of_block>(a, b, terms, start_at_zero, finish);
}
/// Computes c = a b, where c has rows of n floats. Elements that `terms` skips do not change. Calls meanwhile(i) for each row.
template <std::int64_t m, std::int64_t n, std::int64_t a_m, std::int64_t a_k, std::int64_t b_k, class T, class Meanwhile>
inline void block_product(const float* a, const float* b, const T& terms, float* c, const Meanwhile& meanwhile) {
  block_product<m, n, a_m, a_k, b_k, few_rows_of_block>(
      a, b, terms, start_at_zero, [&](std::int64_t i, std::int64_t j, const FloatBatch& sum) __attribute__((always_inline)) {
        sum.store_aligned(c + i * n + j);
        if (j + float_width == n) meanwhile(i);
      });
}

/// A block of scores, with a row for each key, so that a vector has queries. Query i sees key j if j + ahead <= i < j + behind.
struct ScoreBlock {
  std::int64_t queries, keys, ahead, behind;

  /// Terms of a product that computes scores: none where no query sees a key.
  struct OfScores {
    std::int64_t ahead, behind, width;
    constexpr Terms operator()(std::int64_t key, std::int64_t rows, std::int64_t query, std::int64_t count) const {
      return {0, query + count > key + ahead && query < key + rows - 1 + behind ? width : 0};
    }
    /// Returns whether no query before `end` sees a key from `key` on.
    constexpr bool skips(std::int64_t key, std::int64_t end) const { return end <= key + ahead; }
  };
  constexpr OfScores of_scores(std::int64_t width) const { return {ahead, behind, width}; }
  /// Returns the terms of a product that sums over the keys that queries see.
  constexpr auto of_queries() const {
    return [block = *this](std::int64_t query, std::int64_t count, std::int64_t, std::int64_t) {
      return Terms{std::clamp<std::int64_t>(query - block.behind + 1, 0, block.keys),
                   std::clamp<std::int64_t>(query + count - block.ahead, 0, block.keys)};
    };
  }
  /// Returns the terms of a product that sums over the queries that see keys.
  constexpr auto of_keys() const {
    return [block = *this](std::int64_t key, std::int64_t count, std::int64_t, std::int64_t) {
      return Terms{block.first_query(key, block.queries), block.end_query(key + count - 1, block.queries)};
    };
  }
  /// Returns the first of `count` queries that sees a key, or their count.
  constexpr std::int64_t first_query(std::int64_t key, std::int64_t count) const {
    return std::clamp<std::int64_t>(key + ahead, 0, count);
  }
  /// Returns the first later query that does not see the key.
  constexpr std::int64_t end_query(std::int64_t key, std::int64_t count) const {
    return std::clamp<std::int64_t>(key + behind, 0, count);
  }
};
/// Returns the block of queries from q0 on and keys from k0 on. Without a mask every query sees all keys.
constexpr ScoreBlock score_block(const AttentionShape& s, const AttentionPlan& plan, std::int64_t q0, std::int64_t k0) {
  const std::int64_t ahead = s.is_causal ? k0 - q0 - s.offset : -s.keys;
  return {(std::min)(plan.queries, s.queries - q0), (std::min)(plan.keys, s.keys - k0), ahead,
          s.window > 0 ? ahead + s.window : plan.queries};
}
/// Returns the keys of all blocks in which one of `count` queries from q0 on sees a key.
constexpr Terms seen_keys(const AttentionShape& s, const AttentionPlan& plan, std::int64_t q0, std::int64_t count) {
  if (!s.is_causal) return {0, s.keys};
  const std::int64_t first = s.window > 0 ? std::max<std::int64_t>(0, q0 + s.offset - s.window + 1) : 0;
  return {first / plan.keys * plan.keys, (std::min)(s.keys, q0 + count + s.offset)};
}

/// Returns the score that replaces those of a query's hidden keys. It is 0 instead of a finite number if the query sees no key,
/// so that the logarithm of the number of keys is not rounded away.
template <AttentionShape s>
inline float hidden_score(const KeyMask& mask, std::int64_t query) {
  if (mask.hidden_score == -std::numeric_limits<float>::infinity()) return mask.hidden_score;
  std::int64_t key = s.window > 0 ? std::max<std::int64_t>(0, query + s.offset - s.window + 1) : 0;
  const std::int64_t end = s.is_causal ? (std::min)(s.keys, query + s.offset + 1) : s.keys;
  while (key < end && mask.hides(key)) ++key;
  return key < end ? mask.hidden_score : 0.f;
}
/// Arrays of fill_factors, which are on the stack.
template <AttentionPlan plan>
struct FactorArrays {
  static constexpr std::int64_t width = round_up(plan.keys, float_width), size = DropoutFactors<float>::size;
  alignas(line_bytes) float rows[std::size_t(plan.queries * width)];  // one for each query
  alignas(line_bytes) float group[std::size_t(size)];
};
/// Writes the factors of dropout for the weights of a block, with a row for each key.
template <AttentionShape s, AttentionPlan plan>
inline void fill_factors(const WeightDropout& dropout, std::int64_t q0, std::int64_t k0, const ScoreBlock& block,
                         float* factors) {
  constexpr std::int64_t width = FactorArrays<plan>::width, size = FactorArrays<plan>::size;
  FactorArrays<plan> arrays;
  auto& [rows, group] = arrays;
  std::int64_t filled = -1;
  for (std::int64_t i = 0; i < block.queries; ++i)
    for (std::int64_t key = 0; key < block.keys;) {
      const std::int64_t number = dropout.first + (q0 + i) * s.keys + k0 + key, in_group = number % size;
      const std::int64_t count = (std::min)(block.keys - key, size - in_group);
      float* const row = rows + i * width + key;
      key += count;
      if (count == size) {
        dropout.factors.fill(static_cast<std::uint64_t>(number / size), row);
        continue;
      }
      if (number / size != filled) dropout.factors.fill(static_cast<std::uint64_t>(filled = number / size), group);
      std::copy_n(group + in_group, count, row);
    }
  transpose_block<plan.queries, width>(rows, factors);
}

/// Computes the softmax of a block's scores. Updates the largest score of each query, replaces scores by exponentials of scores
/// less the largest (0 for keys that a query does not see), and updates the sums. `corrections` are the factors of earlier sums.
template <std::int64_t queries>
inline void block_softmax(const ScoreBlock& block, float* scores, float* largest, float* sums, float* corrections) {
  in_blocks<queries / float_width, 2>([&](std::int64_t first, auto size) {
    constexpr std::int64_t count = size.value;
    const std::int64_t at = first * float_width;
    const std::int64_t keys = std::clamp<std::int64_t>(at + count * float_width - block.ahead, 0, block.keys);
    for (std::int64_t key = std::max<std::int64_t>(0, at + 1 - block.ahead); key < keys; ++key)
      std::fill_n(scores + key * queries + at, key + block.ahead - at, -std::numeric_limits<float>::infinity());
    for (std::int64_t key = 0; key < (std::min)(keys, at + count * float_width - block.behind); ++key) {
      const std::int64_t end = (std::max)(at, key + block.behind);
      std::fill(scores + key * queries + end, scores + key * queries + at + count * float_width,
                -std::numeric_limits<float>::infinity());
    }
    FloatBatch most[std::size_t(count)], sum[std::size_t(count)];
    unrolled<count>([&](auto v) { most[v] = FloatBatch::load_aligned(largest + at + v * float_width); });
    for (std::int64_t key = 0; key < keys; ++key)
      unrolled<count>([&](auto v) __attribute__((always_inline)) {
        most[v] = (math::max)(most[v], FloatBatch::load_aligned(scores + key * queries + at + v * float_width));
      });
    unrolled<count>([&](auto v) {
      const std::int64_t here = at + v * float_width;
      const FloatBatch correction = math::exp(FloatBatch::load_aligned(largest + here) - most[v]);
      correction.store_aligned(corrections + here);
      most[v].store_aligned(largest + here);
      sum[v] = FloatBatch(0.f);
    });
    for (std::int64_t key = 0; key < keys; ++key)
      unrolled<count>([&](auto v) __attribute__((always_inline)) {
        float* score = scores + key * queries + at + v * float_width;
        const FloatBatch x = math::exp(FloatBatch::load_aligned(score) - most[v]);
        x.store_aligned(score);
        sum[v] += x;
      });
    for (std::int64_t key = keys; key < block.keys; ++key) std::fill_n(scores + key * queries + at, count * float_width, 0.f);
    unrolled<count>([&](auto v) {
      const std::int64_t here = at + v * float_width;
      math::fma(FloatBatch::load_aligned(corrections + here), FloatBatch::load_aligned(sums + here), sum[v])
          .store_aligned(sums + here);
    });
  });
}

}  // namespace tilewright::kernel
