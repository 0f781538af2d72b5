// labels: light
// What the programs of language models have beside the model: examples/gpt.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../../examples/gpt/sampling.hpp"
#include "../../catch.hpp"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

/// How often each token is drawn at the positions from 0 on.
std::vector<double> shares(const std::vector<float>& logits, const SamplingOptions& options, int draws) {
  TokenSampler sampler(options);
  std::vector<double> result(logits.size());
  for (int position = 0; position < draws; ++position)
    result.at(static_cast<std::size_t>(sampler(logits, static_cast<std::uint64_t>(position)))) += 1.0 / draws;
  return result;
}
std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> result;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) / temperature);
  for (const float logit : logits) result.push_back(std::exp(static_cast<double>(logit) / temperature) / sum);
  return result;
}
/// Within four standard deviations.
void check_shares(const std::vector<double>& found, const std::vector<double>& expected, int draws) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t token = 0; token < found.size(); ++token) {
    INFO("token " << token << ": " << found[token] << ", expected " << expected[token]);
    CHECK(std::abs(found[token] - expected[token]) <= 4 * std::sqrt(expected[token] * (1 - expected[token]) / draws));
  }
}

}  // namespace

TEST_CASE("sampling: tokens are as likely as softmax says, at any temperature") {
  const std::vector<float> logits{1.0F, -2.0F, 3.5F, 0.0F, 3.0F};
  constexpr int draws = 40'000;
  for (const double temperature : {0.5, 1.0, 3.0})
    check_shares(shares(logits, {.temperature = temperature, .seed = 3}, draws), softmax(logits, temperature), draws);
  std::vector<float> high = logits;
  for (float& logit : high) logit += 1e4F;  // whose exponentials are infinite
  check_shares(shares(high, {.seed = 4}, draws), softmax(logits, 1), draws);
}

TEST_CASE("sampling: top-k leaves the k largest, and of equal ones the first") {
  const std::vector<float> logits{1.0F, 2.0F, 1.0F, 2.0F, 1.0F, -infinity};
  constexpr int draws = 20'000;
  CHECK(shares(logits, {.top_k = 1}, 100) == std::vector<double>{0, shares(logits, {.top_k = 1}, 100)[1], 0, 0, 0, 0});
  check_shares(shares(logits, {.top_k = 2, .seed = 1}, draws), {0, 0.5, 0, 0.5, 0, 0}, draws);
  const double large = std::exp(1.0) / (2 * std::exp(1.0) + 1);
  check_shares(shares(logits, {.top_k = 3, .seed = 1}, draws), {1 - 2 * large, large, 0, large, 0, 0}, draws);
  CHECK(shares(logits, {.top_k = 6, .seed = 9}, 500) == shares(logits, {.seed = 9}, 500));
  CHECK(shares(logits, {.top_k = 1000, .seed = 9}, 500) == shares(logits, {.seed = 9}, 500));
}

TEST_CASE("sampling: temperature 0 takes the first of the largest logits") {
  TokenSampler sampler({.temperature = 0, .top_k = 3});
  CHECK(sampler(std::vector{1.0F, 5.0F, 5.0F}, 0) == 1);
  CHECK(sampler(std::vector{-infinity, -infinity, -1e30F}, 7) == 2);
  CHECK(sampler(std::vector{0.0F}, 1) == 0);
}

TEST_CASE("sampling: seed and position decide a draw") {
  const std::vector<float> logits(1000);
  const auto drawn = [&](std::uint64_t seed, std::uint64_t position) { return TokenSampler({.seed = seed})(logits, position); };
  TokenSampler sampler({.seed = 5});
  std::vector<std::int32_t> forwards, backwards;
  for (std::uint64_t position = 0; position < 50; ++position) forwards.push_back(sampler(logits, position));
  for (std::uint64_t position = 50; position-- > 0;) backwards.push_back(sampler(logits, position));
  std::ranges::reverse(backwards);
  CHECK(forwards == backwards);
  CHECK(drawn(5, 7) == forwards[7]);
  CHECK(drawn(6, 7) != forwards[7]);
  CHECK(drawn(5, std::uint64_t{1} << 32 | 7) != forwards[7]);
}

TEST_CASE("sampling: logits that say nothing") {
  TokenSampler sampler({});
  CHECK_THROWS_WITH(sampler(std::vector{0.0F, no_number}, 17),
                    "sampling: logit nan of token 1 at position 17: numbers or -infinity expected");
  CHECK_THROWS_WITH(sampler(std::vector{infinity}, 2),
                    "sampling: logit inf of token 0 at position 2: numbers or -infinity expected");
  CHECK_THROWS_WITH(sampler(std::vector{-infinity, -infinity}, 2),
                    "sampling: logits of -infinity for all tokens at position 2: a number for one of them expected");
  CHECK_THROWS_WITH(sampler({}, 0), "sampling: no logits at position 0: one for each token expected");
  CHECK_THROWS_AS(TokenSampler({.temperature = 0})(std::vector{no_number}, 0), std::invalid_argument);
  CHECK_THROWS_WITH(TokenSampler({.temperature = -1}),
                    "sampling: a temperature of -1.000000: a finite number, 0 or above, expected");
  CHECK_THROWS_AS(TokenSampler({.temperature = std::numeric_limits<double>::infinity()}), std::invalid_argument);
}
