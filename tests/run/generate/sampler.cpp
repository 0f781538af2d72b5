// labels: none
// Tokens that are drawn from logits, and texts that go on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/reference.hpp"
#include "tilewright/generate/new_tokens.hpp"

namespace {

using tilewright::generate::new_tokens, tilewright::generate::Sampler, tilewright::generate::SamplerOptions;
using Tokens = std::vector<std::int32_t>;

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

/// How often each token is drawn at the positions from 0 on.
std::vector<double> shares(const std::vector<float>& logits, const SamplerOptions& options, int draws) {
  Sampler sampler(options);
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

TEST_CASE("Sampler: tokens are as likely as softmax says, at any temperature") {
  const std::vector<float> logits{1.0F, -2.0F, 3.5F, 0.0F, 3.0F};
  constexpr int draws = 40'000;
  for (const double temperature : {0.5, 1.0, 3.0})
    check_shares(shares(logits, {.temperature = temperature, .seed = 3}, draws), softmax(logits, temperature), draws);
  std::vector<float> high = logits;
  for (float& logit : high) logit += 1e4F;  // whose exponentials are infinite
  check_shares(shares(high, {.seed = 4}, draws), softmax(logits, 1), draws);
}

TEST_CASE("Sampler: top-k leaves the k largest, and of equal ones the first") {
  const std::vector<float> logits{1.0F, 2.0F, 1.0F, 2.0F, 1.0F, -infinity};
  constexpr int draws = 20'000;
  CHECK(shares(logits, {.top_k = 1}, 100) == std::vector<double>{0, shares(logits, {.top_k = 1}, 100)[1], 0, 0, 0, 0});
  check_shares(shares(logits, {.top_k = 2, .seed = 1}, draws), {0, 0.5, 0, 0.5, 0, 0}, draws);
  const double large = std::exp(1.0) / (2 * std::exp(1.0) + 1);
  check_shares(shares(logits, {.top_k = 3, .seed = 1}, draws), {1 - 2 * large, large, 0, large, 0, 0}, draws);
  CHECK(shares(logits, {.top_k = 6, .seed = 9}, 500) == shares(logits, {.seed = 9}, 500));
  CHECK(shares(logits, {.top_k = 1000, .seed = 9}, 500) == shares(logits, {.seed = 9}, 500));
}

TEST_CASE("Sampler: temperature 0 takes the first of the largest logits") {
  Sampler sampler({.temperature = 0, .top_k = 3});
  CHECK(sampler(std::vector{1.0F, 5.0F, 5.0F}, 0) == 1);
  CHECK(sampler(std::vector{-infinity, -infinity, -1e30F}, 7) == 2);
  CHECK(sampler(std::vector{0.0F}, 1) == 0);
}

TEST_CASE("Sampler: seed and position decide a draw") {
  const std::vector<float> logits(1000);
  const auto drawn = [&](std::uint64_t seed, std::uint64_t position) { return Sampler({.seed = seed})(logits, position); };
  Sampler sampler({.seed = 5});
  std::vector<std::int32_t> forwards, backwards;
  for (std::uint64_t position = 0; position < 50; ++position) forwards.push_back(sampler(logits, position));
  for (std::uint64_t position = 50; position-- > 0;) backwards.push_back(sampler(logits, position));
  std::ranges::reverse(backwards);
  CHECK(forwards == backwards);
  CHECK(drawn(5, 7) == forwards[7]);
  CHECK(drawn(6, 7) != forwards[7]);
  CHECK(drawn(5, std::uint64_t{1} << 32 | 7) != forwards[7]);
}

TEST_CASE("Sampler: logits that say nothing") {
  Sampler sampler;
  CHECK_THROWS_WITH(sampler(std::vector{0.0F, no_number}, 17),
                    "Sampler: logit nan of token 1 at position 17: numbers or -infinity expected");
  CHECK_THROWS_WITH(sampler(std::vector{infinity}, 2),
                    "Sampler: logit inf of token 0 at position 2: numbers or -infinity expected");
  CHECK_THROWS_WITH(sampler(std::vector{-infinity, -infinity}, 2),
                    "Sampler: logits of -infinity for all tokens at position 2: a number for one of them expected");
  CHECK_THROWS_WITH(sampler({}, 0), "Sampler: no logits at position 0: one for each token expected");
  CHECK_THROWS_AS(Sampler({.temperature = 0})(std::vector{no_number}, 0), std::invalid_argument);
  CHECK_THROWS_WITH(Sampler({.temperature = -1}), "Sampler: a temperature of -1: a finite number, 0 or above, expected");
  CHECK_THROWS_AS(Sampler({.temperature = std::numeric_limits<double>::infinity()}), std::invalid_argument);
  CHECK_THROWS_WITH(Sampler({.top_p = 1.5}), "Sampler: a top_p of 1.5: a number from 0 to 1 expected");
  CHECK_THROWS_WITH(Sampler({.top_p = -0.25}), "Sampler: a top_p of -0.25: a number from 0 to 1 expected");
  CHECK_THROWS_AS(Sampler({.top_p = std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
  CHECK_THROWS_AS(sampler.probabilities(std::vector{no_number}), std::invalid_argument);
}

TEST_CASE("Sampler: probabilities are those of Hugging Face's definition") {
  Values values;
  read_reference("sampling.txt", values);
  REQUIRE(values.size() == 3 * 13);
  for (int number = 0; number < 13; ++number) {
    const std::string name = std::to_string(number) + ".";
    const std::vector<double>& options = values.at(name + "options");
    CAPTURE(options);
    const auto& wide = values.at(name + "logits");
    const std::vector<float> logits(wide.begin(), wide.end());
    Sampler sampler({.temperature = options[0], .top_k = static_cast<std::size_t>(options[1]), .top_p = options[2]});
    const auto found = sampler.probabilities(logits);
    const auto& expected = values.at(name + "probabilities");
    CHECK(difference(found, expected) < 1e-8);
    for (std::size_t token = 0; token < found.size(); ++token) CHECK((found[token] == 0) == (expected[token] == 0));
  }
}
TEST_CASE("Sampler: top-p leaves as few of the most probable tokens as reach it, and of equal ones the first") {
  const std::vector<float> logits{std::log(0.2F), std::log(0.4F), -infinity, std::log(0.1F), std::log(0.3F)};
  constexpr int draws = 20'000;
  check_shares(shares(logits, {.top_p = 0.65, .seed = 1}, draws), {0, 4.0 / 7, 0, 0, 3.0 / 7}, draws);
  check_shares(shares(logits, {.top_p = 0.75, .seed = 1}, draws), {2.0 / 9, 4.0 / 9, 0, 0, 3.0 / 9}, draws);
  CHECK(Sampler({.top_k = 2, .top_p = 0.5}).probabilities(logits) == std::vector<double>{0, 1, 0, 0, 0});
  check_shares(shares(logits, {.top_k = 2, .top_p = 0.6, .seed = 1}, draws), {0, 4.0 / 7, 0, 0, 3.0 / 7}, draws);
  // a higher temperature, which comes first, leaves more of them
  check_shares(shares(logits, {.temperature = 1e6, .top_p = 0.74, .seed = 1}, draws), {1 / 3.0, 1 / 3.0, 0, 0, 1 / 3.0}, draws);
  CHECK(Sampler({.top_p = 0}).probabilities(logits) == std::vector<double>{0, 1, 0, 0, 0});
  CHECK(shares(logits, {.top_p = 1, .seed = 9}, 500) == shares(logits, {.seed = 9}, 500));
  CHECK(Sampler({.top_p = 0.5}).probabilities(std::vector<float>(5)) == std::vector<double>{1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0});
  CHECK(Sampler({.temperature = 0}).probabilities(logits) == std::vector<double>{0, 1, 0, 0, 0});
}

namespace {
/// The logits of a model that counts: the token after t is t + 1, of ten.
class Counter {
 public:
  std::span<const float> operator()(std::span<const std::int32_t> tokens) {
    calls.emplace_back(tokens.begin(), tokens.end());
    logits_.assign(10, 0.0F);
    logits_[static_cast<std::size_t>(tokens.back() + 1) % 10] = 20;
    return logits_;
  }
  std::vector<Tokens> calls{};

 private:
  std::vector<float> logits_{};
};
}  // namespace

TEST_CASE("new_tokens: up to a stop token or a number of tokens, each token is read once") {
  const Tokens prompt{3, 1, 4};
  Counter counter;
  Tokens told;
  const auto tell = [&told](std::int32_t token) { told.push_back(token); };
  CHECK(new_tokens(prompt, counter, {.max_new_tokens = 4, .sampler = {.temperature = 0}}, tell) == Tokens{5, 6, 7, 8});
  CHECK(told == Tokens{5, 6, 7, 8});
  CHECK(counter.calls == std::vector<Tokens>{prompt, {5}, {6}, {7}});
  CHECK(new_tokens(prompt, counter, {.stop_tokens = {1, 7}}) == Tokens{5, 6, 7});
  CHECK(new_tokens(prompt, counter).size() == 20);
  CHECK(new_tokens(prompt, counter, {.max_new_tokens = 0}).empty());
  CHECK_THROWS_WITH(new_tokens({}, counter), "new_tokens: an empty prompt: one token or more expected");
  CHECK_THROWS_AS(new_tokens(prompt, counter, {.sampler = {.top_p = 2}}), std::invalid_argument);
}
TEST_CASE("new_tokens: a text that goes on later is the text of one call") {
  const auto flat = [logits = std::vector<float>(100)](std::span<const std::int32_t>) { return std::span<const float>(logits); };
  const tilewright::generate::GenerateOptions ten{.max_new_tokens = 10, .sampler = {.seed = 6}};
  Tokens prompt{1, 2};
  const Tokens first = new_tokens(prompt, flat, ten);
  prompt.insert(prompt.end(), first.begin(), first.end());
  Tokens both = first;
  const Tokens second = new_tokens(prompt, flat, ten);
  both.insert(both.end(), second.begin(), second.end());
  CHECK(new_tokens(Tokens{1, 2}, flat, {.max_new_tokens = 20, .sampler = {.seed = 6}}) == both);
}
