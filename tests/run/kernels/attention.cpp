// labels: clang
// The kernels of one head of attention against their formulas in float64, and what they may not read.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "../../support/elements.hpp"

namespace {
/// Attention of one query to random keys and values of this shape, of which those before `seen` are seen, against the formula in
/// float64. Rows that the kernel need not read are NaN.
template <tw::kernel::AttentionShape s, class T>
void check_one_query(std::int64_t seen, double tolerance) {
  CAPTURE(s.keys, s.width, seen);
  constexpr std::int64_t row = s.width + 3, vector = tw::kernel::float_width;
  constexpr double scale = 0.25;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> q(static_cast<std::size_t>(s.width)), k(static_cast<std::size_t>(s.keys * row)), v(k), y(q);
  for (auto* values : {&q, &k, &v})
    for (T& x : *values) x = static_cast<T>(uniform(random));
  for (std::int64_t j = (seen + vector - 1) / vector * vector; j < s.keys; ++j)
    for (auto* values : {&k, &v}) std::fill_n(values->begin() + j * row, s.width, static_cast<T>(NAN));
  const auto mask = std::make_unique<bool[]>(static_cast<std::size_t>(2 * s.keys));
  for (std::int64_t j = 0; j < seen; ++j) mask[static_cast<std::size_t>(2 * j)] = true;
  std::vector<double> p(static_cast<std::size_t>(seen)), expected(q.size());
  const auto at = [](const std::vector<T>& from, std::size_t j, std::size_t e) {
    return static_cast<double>(from[j * static_cast<std::size_t>(row) + e]);
  };
  double sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    for (std::size_t e = 0; e < q.size(); ++e) p[j] += scale * static_cast<double>(q[e]) * at(k, j, e);
    sum += p[j] = std::exp(p[j]);  // scores are small
  }
  for (std::size_t j = 0; j < p.size(); ++j)
    for (std::size_t e = 0; e < q.size(); ++e) expected[e] += p[j] / sum * at(v, j, e);
  float logsumexp = 0;
  tw::kernel::attention_of_one<s, T>(q.data(), {k.data(), row, 1}, {v.data(), row, 1}, {.seen = mask.get(), .stride = 2},
                                     y.data(), &logsumexp, scale);
  for (std::size_t e = 0; e < q.size(); ++e) CHECK(std::abs(static_cast<double>(y[e]) - expected[e]) <= tolerance);
  if (seen == 0) CHECK(logsumexp == INFINITY);
  else CHECK(std::abs(static_cast<double>(logsumexp) - std::log(sum)) <= 2e-6);
}
}  // namespace

TEST_CASE("attention of one query agrees with its formula in float64, and does not read keys that are hidden") {
  constexpr auto masked = [](std::int64_t keys, std::int64_t elements) {
    return tw::kernel::AttentionShape{.keys = keys, .width = elements, .has_mask = true};
  };
  for (const std::int64_t seen : {0, 1, 16, 31, 37}) {
    check_one_query<masked(37, 20), float>(seen, 2e-6);
    check_one_query<masked(37, 64), tw::float16_t>(seen, 0x1p-12);  // half of a unit in the last place below 1
  }
  for (const std::int64_t seen : {1, 1024, 1025, 1100}) check_one_query<masked(1100, 16), float>(seen, 2e-6);  // two parts
  check_one_query<tw::kernel::AttentionShape{.keys = 37, .width = 20}, float>(37, 2e-6);
}

namespace {
/// What the kernels of one head give.
struct HeadResults {
  std::vector<float> y, logsumexp, dq, dk, dv;
};
/// Of random inputs, but keys and values from row `first` to before row `last` are `x`.
template <tw::kernel::AttentionShape s>
HeadResults head_with(std::int64_t first, std::int64_t last, float x) {
  std::mt19937 random(9);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto matrix = [&](std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count * s.width)); };
  std::vector<float> q = matrix(s.queries), k = matrix(s.keys), v = matrix(s.keys), dy = matrix(s.queries);
  for (auto* values : {&q, &k, &v, &dy})
    for (float& element : *values) element = uniform(random);
  for (auto* values : {&k, &v}) std::fill(values->begin() + first * s.width, values->begin() + last * s.width, x);
  HeadResults results{matrix(s.queries), std::vector<float>(static_cast<std::size_t>(s.queries)), matrix(s.queries),
                      matrix(s.keys), matrix(s.keys)};
  const auto input = [](const std::vector<float>& of) { return tw::kernel::MatrixRows<const float>{of.data(), s.width, 1}; };
  const auto output = [](std::vector<float>& of) { return tw::kernel::MatrixRows<float>{of.data(), s.width, 1}; };
  tw::kernel::attention_forward<s>(input(q), input(k), input(v), {}, output(results.y), results.logsumexp.data(), 1, 0.5, 0);
  tw::kernel::attention_gradient<s, true>(input(q), input(k), input(v), {}, input(results.y), results.logsumexp.data(), 1,
                                          input(dy), output(results.dq), output(results.dk), output(results.dv), 0.5, 0);
  return results;
}

constexpr tw::kernel::AttentionShape causal{.queries = 256, .keys = 256, .width = 8, .is_causal = true};
constexpr tw::kernel::AttentionShape causal_in_window{.queries = 256, .keys = 256, .width = 8, .is_causal = true, .window = 40};
constexpr std::int64_t block_rows = 64;
static_assert(tw::kernel::attention_plan(causal).queries == block_rows && tw::kernel::attention_plan(causal).keys == block_rows);

/// The keys of the blocks that a block of queries may read: none after its last query, nor before what its first one sees.
template <tw::kernel::AttentionShape s>
constexpr bool reads_to_diagonal() {
  for (std::int64_t q0 = 0; q0 < s.queries; q0 += block_rows) {
    const std::int64_t first = s.window > 0 ? std::max<std::int64_t>(0, q0 - s.window + 1) / block_rows * block_rows : 0;
    const auto [begin, end] = tw::kernel::seen_keys(s, tw::kernel::attention_plan(s), q0, block_rows);
    if (begin != first || end != q0 + block_rows) return false;
  }
  return true;
}
static_assert(reads_to_diagonal<causal>() && reads_to_diagonal<causal_in_window>());

/// Rows from `first` to before `last` are the same, of numbers.
bool same_rows(const std::vector<float>& a, const std::vector<float>& b, std::int64_t first, std::int64_t last) {
  const auto size = static_cast<std::size_t>((last - first) * causal.width);
  const float *x = a.data() + first * causal.width, *y = b.data() + first * causal.width;
  return std::memcmp(x, y, size * sizeof(float)) == 0 && std::all_of(x, x + size, [](float e) { return std::isfinite(e); });
}
bool all_nan(const std::vector<float>& a, std::int64_t first, std::int64_t last) {
  return std::all_of(a.data() + first * causal.width, a.data() + last * causal.width, [](float e) { return std::isnan(e); });
}
}  // namespace

TEST_CASE("attention does not compute with blocks of keys that a causal mask hides") {
  // Blocks are read whole: from 128 on, queries are in a block with queries that see key 150.
  const HeadResults expected = head_with<causal>(150, 256, 0), actual = head_with<causal>(150, 256, NAN);
  CHECK(same_rows(actual.y, expected.y, 0, 128));
  CHECK(same_rows(actual.dq, expected.dq, 0, 128));
  CHECK(all_nan(actual.y, 150, 256));
  CHECK(all_nan(actual.dq, 150, 256));
}
TEST_CASE("nor with those that a window hides") {
  {
    const HeadResults expected = head_with<causal_in_window>(150, 256, 0), actual = head_with<causal_in_window>(150, 256, NAN);
    CHECK(same_rows(actual.y, expected.y, 0, 128));
    CHECK(same_rows(actual.dq, expected.dq, 0, 128));
    CHECK(all_nan(actual.y, 150, 256));
    for (const auto& [gradient, same] : {std::pair(&actual.dk, &expected.dk), std::pair(&actual.dv, &expected.dv)})
      CHECK(same_rows(*gradient, *same, 0, 64));  // queries to 127 see them, those after do not
  }
  const HeadResults expected = head_with<causal_in_window>(0, 70, 0), actual = head_with<causal_in_window>(0, 70, NAN);
  CHECK(all_nan(actual.y, 0, 109));  // the last one that sees key 69
  for (const auto& [gradient, same] : {std::pair(&actual.y, &expected.y), std::pair(&actual.dq, &expected.dq),
                                       std::pair(&actual.dk, &expected.dk), std::pair(&actual.dv, &expected.dv)})
    CHECK(same_rows(*gradient, *same, 192, 256));  // those from 128 on read keys from 64 on
}

namespace {
/// Gradients of one head in half precision, of random inputs with values near 100, against their formulas in float64.
template <tw::kernel::AttentionShape s, class T>
void check_close_values() {
  constexpr bool is_float16 = std::is_same_v<T, tw::float16_t>;
  CAPTURE(s.keys, s.is_causal, is_float16);
  constexpr auto width = static_cast<std::size_t>(s.width), keys = static_cast<std::size_t>(s.keys);
  constexpr double scale = 0.5;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto matrix = [](std::int64_t count) { return std::vector<T>(static_cast<std::size_t>(count) * width); };
  std::vector<T> q = matrix(s.queries), k = matrix(s.keys), v = k, dy = q, y = q, dq = q;
  for (auto* values : {&q, &k, &v, &dy})
    for (T& x : *values) x = static_cast<T>((values == &v ? 100 : 0) + uniform(random));
  std::vector<float> logsumexp(static_cast<std::size_t>(s.queries)), dk(k.size()), dv(k.size());
  const auto input = [](const std::vector<T>& of) { return tw::kernel::MatrixRows<const T>{of.data(), s.width, 1}; };
  const auto sums = [](std::vector<float>& of) { return tw::kernel::MatrixRows<float>{of.data(), s.width, 1}; };
  tw::kernel::attention_forward<s>(input(q), input(k), input(v), {}, tw::kernel::MatrixRows<T>{y.data(), s.width, 1},
                                   logsumexp.data(), 1, scale, 0);
  tw::kernel::attention_gradient<s, true>(input(q), input(k), input(v), {}, input(y), logsumexp.data(), 1, input(dy),
                                          tw::kernel::MatrixRows<T>{dq.data(), s.width, 1}, sums(dk), sums(dv), scale, 0);
  const auto dot = [](const std::vector<T>& a, std::size_t i, const std::vector<T>& b, std::size_t j) {
    double sum = 0;
    for (std::size_t e = 0; e < width; ++e) sum += static_cast<double>(a[i * width + e]) * static_cast<double>(b[j * width + e]);
    return sum;
  };
  std::vector<double> dq_exact(q.size()), dk_exact(k.size()), dv_exact(k.size()), p(keys), dp(keys);
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.queries); ++i) {
    const std::size_t end = s.is_causal ? i + static_cast<std::size_t>(s.offset) + 1 : keys;
    double total = 0, mean = 0;
    for (std::size_t j = 0; j < end; ++j) total += p[j] = std::exp(scale * dot(q, i, k, j));
    for (std::size_t j = 0; j < end; ++j) p[j] /= total, dp[j] = dot(dy, i, v, j), mean += p[j] * dp[j];
    for (std::size_t j = 0; j < end; ++j)
      for (std::size_t e = 0; e < width; ++e) {
        const double ds = p[j] * (dp[j] - mean) * scale;
        dq_exact[i * width + e] += ds * static_cast<double>(k[j * width + e]);
        dk_exact[j * width + e] += ds * static_cast<double>(q[i * width + e]);
        dv_exact[j * width + e] += p[j] * static_cast<double>(dy[i * width + e]);
      }
  }
  // dp, a sum of 8 products near 100 in float32, is exact to 8 * 101 * 9 roundings of 2^-24; weights of a query add up to 1.
  const double least = scale * 8 * 101 * 9 * 0x1p-24, rounding = is_float16 ? 0x1p-11 : 0x1p-8;
  const auto worst = [&](const auto& actual, const std::vector<double>& exact, double relative) {
    double most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(actual[i]) - exact[i]) / (least + relative * std::abs(exact[i])));
    return most;
  };
  CHECK(worst(dq, dq_exact, rounding) <= 1);
  CHECK(worst(dk, dk_exact, 1e-5) <= 1);
  CHECK(worst(dv, dv_exact, 1e-5) <= 1);
}
constexpr tw::kernel::AttentionShape many_keys{.queries = 64, .keys = 2304, .width = 8};
constexpr tw::kernel::AttentionShape many_causal_keys{.queries = 64, .keys = 2304, .width = 8, .is_causal = true, .offset = 2240};
static_assert(tw::kernel::AttentionGradientSizes<many_keys, tw::float16_t>::blocks * block_rows < many_keys.keys);
}  // namespace

TEST_CASE("gradients of attention in half precision do not have the rounding of y, with any number of keys") {
  check_close_values<tw::kernel::AttentionShape{.queries = 20, .keys = 40, .width = 8}, tw::float16_t>();
  check_close_values<causal, tw::float16_t>();
  check_close_values<causal, tw::bfloat16_t>();
  check_close_values<many_keys, tw::float16_t>();
  check_close_values<many_causal_keys, tw::float16_t>();
}
