// labels: clang strict
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "cases_attention.hpp"
#include "op_checks.hpp"

TEST_CASE("the cases of attention are those of the reference") {
  check_same_cases("ops_attention.txt", {op_cases::attentions, op_cases::attentions_in_blocks, op_cases::attentions_in_half});
}
TEST_CASE("attention on the host agrees with PyTorch and with finite differences") {
  check_reference<op_cases::attentions, tw::cpu>(2e-6);
  check_reference<op_cases::attentions_in_blocks, tw::cpu>(2e-6);
  check_finite_differences<op_cases::attentions, tw::cpu>();
}
TEST_CASE("attention on the IPU model and on three tiles agrees with PyTorch") {
  check_reference<op_cases::attentions, tw::ipu_model>(2e-6);
  check_reference<op_cases::attentions_in_blocks, tw::cpu.with_tiles(3)>(2e-6);
}
TEST_CASE("attention in half precision is computed in float32") {
  // Results are rounded once, by 2^-11 of a number below 4 at most.
  check_reference<op_cases::attentions_in_half, tw::cpu>(0.002);
  check_reference<op_cases::attentions_in_half, tw::ipu_model>(0.002);
}
TEST_CASE("attention on several threads agrees with PyTorch") {
  tw::Session<op_cases::attentions_in_blocks, tw::cpu.with_tiles(2)> session({.threads = 2});
  write_variables(session, reference());
  for (const auto& [name, elements] : run(session)) {
    INFO(name);
    CHECK(difference(elements, reference().at(name)) <= 2e-6);
  }
}

namespace {

/// Elements of a dtype between -2 and 2 for all floating-point variables of a session, false now and then, and a seed.
template <class Session>
Values random_values(const Session& session) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Values values;
  for (const auto& tensor : session.host_tensors()) {
    auto& elements = values[std::string(tensor.name)];
    elements.resize(static_cast<std::size_t>(tensor.spec.nelms()));
    for (double& x : elements) x = tensor.spec.dtype == tw::boolean ? random() % 3 != 0 : uniform(random);
    if (tensor.spec.dtype == tw::uint32) elements = {1, 2};
  }
  return values;
}
/// Several blocks, samples and heads; heads that share keys, whose gradients are sums over them.
template <tw::DType dtype>
constexpr void for_threads(tw::Ir& ir) {
  const auto rows = [](std::int64_t heads, std::int64_t count) { return tw::TensorSpec{{3, heads, count, 9}, dtype}; };
  op_cases::differentiable(ir, "causal", op_cases::dropped_attention({.is_causal = true, .window = 40, .dropout_p = 0.25}),
                           rows(4, 140), rows(4, 140), rows(4, 140), op_cases::attention_seed);
  op_cases::differentiable(ir, "groups", op_cases::masked_attention(), rows(4, 70), rows(2, 131), rows(2, 131),
                           op_cases::bools({3, 131}));
}
/// The bytes of all results on some threads.
template <auto program>
std::map<std::string, std::vector<std::byte>> bytes_on(int threads) {
  tw::Session<program> session({.threads = threads});
  write_variables(session, random_values(session));
  std::map<std::string, std::vector<std::byte>> bytes;
  const auto results = session.run();
  for (const auto& tensor : results.host_tensors())
    bytes[std::string(tensor.name)].assign(tensor.bytes.begin(), tensor.bytes.end());
  return bytes;
}
template <tw::DType dtype>
void check_threads() {
  const auto expected = bytes_on<for_threads<dtype>>(1);
  CHECK(expected.size() == 8);
  for (const int threads : {2, 3})
    for (int n = 0; n < 5; ++n)  // threads take work in another order each time
      for (const auto& [name, bytes] : bytes_on<for_threads<dtype>>(threads)) {
        INFO(name << " on " << threads << " threads");
        CHECK((bytes == expected.at(name)));
      }
}

}  // namespace

TEST_CASE("attention has the same bytes on 1, 2 and 3 threads, forward and backward") {
  check_threads<tw::float32>();
  check_threads<tw::float16>();
}

namespace {

constexpr std::int64_t length = 70, width = 8;

/// Scores are about 1e4, and differ by a few.
template <tw::DType dtype>
constexpr void high_scores(tw::Ir& ir) {
  const tw::TensorSpec spec{{1, 1, length, width}, dtype};
  op_cases::differentiable(ir, "high", op_cases::attention({.is_causal = true, .scale = 1.0}), spec, spec, spec);
}
constexpr std::int64_t window = 20;
constexpr double dropped = 0.25;
constexpr void high_scores_in_a_window(tw::Ir& ir) {
  const auto spec = op_cases::f32({1, 1, length, width});
  const auto op = op_cases::dropped_attention({.is_causal = true, .scale = 1.0, .window = window, .dropout_p = dropped});
  op_cases::differentiable(ir, "high", op, spec, spec, spec, op_cases::attention_seed);
}

using Matrix = std::vector<double>;  // (length, width)

/// The product of row i of a and row j of b.
double dot(const Matrix& a, std::size_t i, const Matrix& b, std::size_t j) {
  double sum = 0;
  for (std::size_t e = 0; e < width; ++e) sum += a[i * width + e] * b[j * width + e];
  return sum;
}
bool is_within(const Matrix& bounds, const Matrix& a, const Matrix& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= bounds[i])) return false;
  return true;
}

}  // namespace

/// Compares a program with the formulas in float64: query i sees the last `seen` keys to i, and the weight of key j is multiplied
/// by factors[i * length + j].
template <auto program, class T = float>
void check_high_scores(std::size_t seen, const std::vector<float>& factors) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Values values;
  for (const char* name : {"high.x0", "high.x1", "high.x2", "high.dy0"}) {
    values[name].resize(length * width);
    for (double& x : values[name]) x = static_cast<double>(static_cast<T>(uniform(random)));
  }
  for (std::size_t i = 0; i < length; ++i)
    values["high.x0"][i * width] = values["high.x1"][i * width] = static_cast<double>(static_cast<T>(100.1F));
  values["high.x3"] = {1, 2};  // the seed, if there is one
  const Matrix &q = values["high.x0"], &k = values["high.x1"], &v = values["high.x2"], &dy = values["high.dy0"];
  double highest = 0;
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j <= i; ++j) highest = std::max(highest, dot(q, i, k, j));
  CHECK(highest > 1e4);
  // A score is a sum of `width` terms, and a logarithm of the gradient's is as large: their rounding changes a probability by a
  // part of `error` at most, to first order. Other sums have up to `length` terms. In float16, each result is rounded.
  const double error = 2 * (width + 1) * std::ldexp(1.0, -24) * highest, sums = length * std::ldexp(1.0, -24);
  const double unit = std::is_same_v<T, float> ? 0 : std::ldexp(1.0, -11);
  Matrix y(length * width), dq(y), dk(y), dv(y), y_bound(y), dq_bound(y), dk_bound(y), dv_bound(y);
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t first = i + 1 > seen ? i + 1 - seen : 0, row = i * width;
    std::vector<double> p(i + 1), dp(i + 1), size(i + 1);  // size: of the terms of dp
    double sum = 0, mean = 0, spread = 0, size_of_mean = 0;
    for (std::size_t j = first; j <= i; ++j) {
      sum += p[j] = std::exp(dot(q, i, k, j) - highest);
      for (std::size_t e = 0; e < width; ++e) {
        const double term = dy[row + e] * v[j * width + e] * factors[i * length + j];
        dp[j] += term, size[j] += std::abs(term);
      }
    }
    for (std::size_t j = first; j <= i; ++j) mean += (p[j] /= sum) * dp[j];
    for (std::size_t j = first; j <= i; ++j) {
      const double kept = p[j] * factors[i * length + j];
      spread += p[j] * std::abs(dp[j] - mean);
      for (std::size_t e = 0; e < width; ++e) {
        y[row + e] += kept * v[j * width + e];
        y_bound[row + e] += (error + sums) * kept * std::abs(v[j * width + e]);
        dv[j * width + e] += kept * dy[row + e];
        dv_bound[j * width + e] += (error + sums) * kept * std::abs(dy[row + e]);
      }
    }
    for (std::size_t e = 0; e < width; ++e) size_of_mean += std::abs(dy[row + e] * y[row + e]);
    for (std::size_t j = first; j <= i; ++j) {
      // The gradient of a score is p (dp - mean), and the kernel takes the mean from y. What the probabilities' errors change it
      // by sums to 0 over the keys, as the gradient does: so it counts times what the keys differ by.
      const double ds = p[j] * (dp[j] - mean), by_p = p[j] * error * (std::abs(dp[j] - mean) + spread);
      const double by_sums = p[j] * (2 * sums * size[j] + (2 * sums + unit) * size_of_mean);
      for (std::size_t e = 0; e < width; ++e) {
        const double key = k[j * width + e];
        dq[row + e] += ds * key;
        dq_bound[row + e] += by_p * std::abs(key - k[row + e]) + by_sums * std::abs(key);
        dk[j * width + e] += ds * q[row + e];
        dk_bound[j * width + e] += (by_p + by_sums) * std::abs(q[row + e]);
      }
    }
  }
  for (const auto& [bound, result] :
       {std::pair(&y_bound, &y), std::pair(&dq_bound, &dq), std::pair(&dk_bound, &dk), std::pair(&dv_bound, &dv)})
    for (std::size_t i = 0; i < result->size(); ++i) (*bound)[i] += unit * std::abs((*result)[i]);
  tw::Session<program> session({.threads = 1});
  write_variables(session, values);
  const Values actual = run(session);
  CHECK(is_within(y_bound, actual.at("high.y0"), y));
  CHECK(is_within(dq_bound, actual.at("high.dx0"), dq));
  CHECK(is_within(dk_bound, actual.at("high.dx1"), dk));
  CHECK(is_within(dv_bound, actual.at("high.dx2"), dv));
}

TEST_CASE("attention with scores of 1e4 is as exact as these scores") {
  check_high_scores<high_scores<tw::float32>>(length, std::vector<float>(length * length, 1));
  check_high_scores<high_scores<tw::float16>, tw::float16_t>(length, std::vector<float>(length * length, 1));
}
TEST_CASE("and so it is in a window with dropout") {
  const tw::DropoutFactors<float> dropout{tw::detail::PhiloxVectors<tw::detail::WideVector>({1, 2}),
                                          tw::detail::dropout_threshold(dropped), static_cast<float>(1 / (1 - dropped))};
  std::vector<float> factors((length * length + 63) / 64 * 64);
  for (std::size_t group = 0; group < factors.size() / 64; ++group) dropout.fill(group, factors.data() + group * 64);
  check_high_scores<high_scores_in_a_window>(window, factors);
}

namespace {
/// Attention of one query to random keys and values of this shape, of which those before `seen` are seen, against the formula in
/// float64. Rows that the kernel need not read are NaN.
template <tw::AttentionShape s, class T>
void check_one_query(std::int64_t seen, double tolerance) {
  CAPTURE(s.keys, s.width, seen);
  constexpr std::int64_t row = s.width + 3, vector = tw::detail::float_width;
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
  tw::attention_of_one<s, T>(q.data(), {k.data(), row, 1}, {v.data(), row, 1}, {.seen = mask.get(), .stride = 2}, y.data(),
                             &logsumexp, scale);
  for (std::size_t e = 0; e < q.size(); ++e) CHECK(std::abs(static_cast<double>(y[e]) - expected[e]) <= tolerance);
  if (seen == 0) CHECK(logsumexp == INFINITY);
  else CHECK(std::abs(static_cast<double>(logsumexp) - std::log(sum)) <= 2e-6);
}
}  // namespace

TEST_CASE("attention of one query agrees with its formula in float64, and does not read keys that are hidden") {
  constexpr auto masked = [](std::int64_t keys, std::int64_t elements) {
    return tw::AttentionShape{.keys = keys, .width = elements, .has_mask = true};
  };
  for (const std::int64_t seen : {0, 1, 16, 31, 37}) {
    check_one_query<masked(37, 20), float>(seen, 2e-6);
    check_one_query<masked(37, 64), tw::float16_t>(seen, 0x1p-12);  // half of a unit in the last place below 1
  }
  for (const std::int64_t seen : {1, 1024, 1025, 1100}) check_one_query<masked(1100, 16), float>(seen, 2e-6);  // two parts
  check_one_query<tw::AttentionShape{.keys = 37, .width = 20}, float>(37, 2e-6);
}

namespace {
/// What the kernels of one head give.
struct HeadResults {
  std::vector<float> y, logsumexp, dq, dk, dv;
};
/// Of random inputs, but keys and values from row `first` to before row `last` are `x`.
template <tw::AttentionShape s>
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
  const auto input = [](const std::vector<float>& of) { return tw::MatrixRows<const float>{of.data(), s.width, 1}; };
  const auto output = [](std::vector<float>& of) { return tw::MatrixRows<float>{of.data(), s.width, 1}; };
  tw::attention_forward<s>(input(q), input(k), input(v), {}, output(results.y), results.logsumexp.data(), 1, 0.5, 0);
  tw::attention_gradient<s, true>(input(q), input(k), input(v), {}, input(results.y), results.logsumexp.data(), 1, input(dy),
                                  output(results.dq), output(results.dk), output(results.dv), 0.5, 0);
  return results;
}

constexpr tw::AttentionShape causal{.queries = 256, .keys = 256, .width = 8, .is_causal = true};
constexpr tw::AttentionShape causal_in_window{.queries = 256, .keys = 256, .width = 8, .is_causal = true, .window = 40};
constexpr std::int64_t block_rows = 64;
static_assert(tw::detail::attention_plan(causal).queries == block_rows && tw::detail::attention_plan(causal).keys == block_rows);

/// The keys of the blocks that a block of queries may read: none after its last query, nor before what its first one sees.
template <tw::AttentionShape s>
constexpr bool reads_to_diagonal() {
  for (std::int64_t q0 = 0; q0 < s.queries; q0 += block_rows) {
    const std::int64_t first = s.window > 0 ? std::max<std::int64_t>(0, q0 - s.window + 1) / block_rows * block_rows : 0;
    const auto [begin, end] = tw::detail::seen_keys(s, tw::detail::attention_plan(s), q0, block_rows);
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
template <tw::AttentionShape s, class T>
void check_close_values() {
  constexpr bool is_float16 = std::is_same_v<T, tw::float16_t>;
  CAPTURE(s.keys, s.is_causal, is_float16);
  constexpr auto head_width = static_cast<std::size_t>(s.width), keys = static_cast<std::size_t>(s.keys);
  constexpr double scale = 0.5;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto matrix = [](std::int64_t count) { return std::vector<T>(static_cast<std::size_t>(count) * head_width); };
  std::vector<T> q = matrix(s.queries), k = matrix(s.keys), v = k, dy = q, y = q, dq = q;
  for (auto* values : {&q, &k, &v, &dy})
    for (T& x : *values) x = static_cast<T>((values == &v ? 100 : 0) + uniform(random));
  std::vector<float> logsumexp(static_cast<std::size_t>(s.queries)), dk(k.size()), dv(k.size());
  const auto input = [](const std::vector<T>& of) { return tw::MatrixRows<const T>{of.data(), s.width, 1}; };
  const auto sums = [](std::vector<float>& of) { return tw::MatrixRows<float>{of.data(), s.width, 1}; };
  tw::attention_forward<s>(input(q), input(k), input(v), {}, tw::MatrixRows<T>{y.data(), s.width, 1}, logsumexp.data(), 1, scale,
                           0);
  tw::attention_gradient<s, true>(input(q), input(k), input(v), {}, input(y), logsumexp.data(), 1, input(dy),
                                  tw::MatrixRows<T>{dq.data(), s.width, 1}, sums(dk), sums(dv), scale, 0);
  const auto dot = [](const std::vector<T>& a, std::size_t i, const std::vector<T>& b, std::size_t j) {
    double sum = 0;
    for (std::size_t e = 0; e < head_width; ++e)
      sum += static_cast<double>(a[i * head_width + e]) * static_cast<double>(b[j * head_width + e]);
    return sum;
  };
  std::vector<double> dq_exact(q.size()), dk_exact(k.size()), dv_exact(k.size()), p(keys), dp(keys);
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.queries); ++i) {
    const std::size_t end = s.is_causal ? i + static_cast<std::size_t>(s.offset) + 1 : keys;
    double total = 0, mean = 0;
    for (std::size_t j = 0; j < end; ++j) total += p[j] = std::exp(scale * dot(q, i, k, j));
    for (std::size_t j = 0; j < end; ++j) p[j] /= total, dp[j] = dot(dy, i, v, j), mean += p[j] * dp[j];
    for (std::size_t j = 0; j < end; ++j)
      for (std::size_t e = 0; e < head_width; ++e) {
        const double ds = p[j] * (dp[j] - mean) * scale;
        dq_exact[i * head_width + e] += ds * static_cast<double>(k[j * head_width + e]);
        dk_exact[j * head_width + e] += ds * static_cast<double>(q[i * head_width + e]);
        dv_exact[j * head_width + e] += p[j] * static_cast<double>(dy[i * head_width + e]);
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
constexpr tw::AttentionShape many_keys{.queries = 64, .keys = 2304, .width = 8};
constexpr tw::AttentionShape many_causal_keys{.queries = 64, .keys = 2304, .width = 8, .is_causal = true, .offset = 2240};
static_assert(tw::detail::AttentionGradientSizes<many_keys, tw::float16_t>::blocks * block_rows < many_keys.keys);
}  // namespace

TEST_CASE("gradients of attention in half precision do not have the rounding of y, with any number of keys") {
  check_close_values<tw::AttentionShape{.queries = 20, .keys = 40, .width = 8}, tw::float16_t>();
  check_close_values<causal, tw::float16_t>();
  check_close_values<causal, tw::bfloat16_t>();
  check_close_values<many_keys, tw::float16_t>();
  check_close_values<many_causal_keys, tw::float16_t>();
}
