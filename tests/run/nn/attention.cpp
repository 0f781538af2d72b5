// labels: strict
#include "../cases/attention.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "../cases/op_checks.hpp"

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
  op_cases::differentiable(ir, "causal",
                           op_tests::Attention::dropped_attention({.is_causal = true, .window = 40, .dropout_p = 0.25}),
                           rows(4, 140), rows(4, 140), rows(4, 140), op_tests::seed_spec);
  op_cases::differentiable(ir, "groups", op_tests::Attention::masked_attention(), rows(4, 70), rows(2, 131), rows(2, 131),
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
  op_cases::differentiable(ir, "high", op_tests::Attention::attention({.is_causal = true, .scale = 1.0}), spec, spec, spec);
}
constexpr std::int64_t window = 20;
constexpr double dropped = 0.25;
constexpr void high_scores_in_a_window(tw::Ir& ir) {
  const auto spec = op_cases::f32({1, 1, length, width});
  const auto op = op_tests::Attention::dropped_attention(
      {.is_causal = true, .scale = 1.0, .window = window, .dropout_p = dropped});
  op_cases::differentiable(ir, "high", op, spec, spec, spec, op_tests::seed_spec);
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
  const tw::kernel::DropoutFactors<float> dropout{tw::kernel::PhiloxVectors<tw::kernel::WideVector>({1, 2}),
                                                  tw::detail::dropout_threshold(dropped), static_cast<float>(1 / (1 - dropped))};
  std::vector<float> factors((length * length + 63) / 64 * 64);
  for (std::size_t group = 0; group < factors.size() / 64; ++group) dropout.fill(group, factors.data() + group * 64);
  check_high_scores<high_scores_in_a_window>(window, factors);
}
