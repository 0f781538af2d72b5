#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/core/philox.hpp>
#include <vector>

struct SamplingOptions {
  double temperature = 1;  ///< what logits are divided by; 0: the largest logit's token, the first of equal ones
  std::size_t top_k = 0;   ///< how many tokens of the largest logits are drawn from; 0: all. Of equal ones the first are
  std::uint64_t seed = 0;
};

/// Draws the tokens of a text from logits. A draw depends on the seed and the token's position only, so that a text that is
/// continued later goes on as it would have.
class TokenSampler {
 public:
  /// Throws std::invalid_argument for a temperature that is negative, infinite or NaN.
  explicit TokenSampler(const SamplingOptions& options) : options_(options) {
    if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
      fail("a temperature of " + std::to_string(options.temperature), "a finite number, 0 or above,");
  }

  /// The token at `position` of a text. A logit of -infinity excludes its token. Throws std::invalid_argument for no logits,
  /// logits that are NaN or infinite, and logits that exclude all tokens.
  std::int32_t operator()(std::span<const float> logits, std::uint64_t position) {
    const std::size_t largest = largest_of(logits, position);
    if (options_.temperature == 0 || options_.top_k == 1) return static_cast<std::int32_t>(largest);
    choose_candidates(logits);
    weights_.clear();
    double sum = 0;
    for (const std::size_t token : candidates_)
      weights_.push_back(
          sum += std::exp((static_cast<double>(logits[token]) - static_cast<double>(logits[largest])) / options_.temperature));
    const double drawn = std::min(uniform(position) * sum, std::nextafter(sum, 0.0));  // the product may round to the sum
    const auto found = std::ranges::upper_bound(weights_, drawn) - weights_.begin();
    return static_cast<std::int32_t>(candidates_[static_cast<std::size_t>(found)]);
  }

 private:
  [[noreturn]] static void fail(const std::string& found, const std::string& expected) {
    throw std::invalid_argument("sampling: " + found + ": " + expected + " expected");
  }
  static std::size_t largest_of(std::span<const float> logits, std::uint64_t position) {
    const std::string where = " at position " + std::to_string(position);
    if (logits.empty()) fail("no logits" + where, "one for each token");
    for (std::size_t token = 0; token < logits.size(); ++token)
      if (std::isnan(logits[token]) || logits[token] == std::numeric_limits<float>::infinity())
        fail("logit " + std::to_string(logits[token]) + " of token " + std::to_string(token) + where, "numbers or -infinity");
    const auto largest = std::ranges::max_element(logits);
    if (std::isinf(*largest)) fail("logits of -infinity for all tokens" + where, "a number for one of them");
    return static_cast<std::size_t>(largest - logits.begin());
  }
  /// The tokens to draw from, in ascending order.
  void choose_candidates(std::span<const float> logits) {
    candidates_.resize(logits.size());
    for (std::size_t token = 0; token < logits.size(); ++token) candidates_[token] = token;
    if (options_.top_k == 0 || options_.top_k >= logits.size()) return;
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(options_.top_k);
    std::nth_element(candidates_.begin(), end, candidates_.end(),
                     [&](std::size_t a, std::size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
    candidates_.erase(end, candidates_.end());
    std::ranges::sort(candidates_);
  }
  /// In [0, 1), of 53 bits.
  double uniform(std::uint64_t position) const {
    constexpr std::uint32_t own = 0x746f6b65;  // no random number of the library has it in its counter's last word
    const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const auto words = tilewright::philox({low(position), low(position >> 32), 0, own},
                                          {low(options_.seed), low(options_.seed >> 32)});
    return static_cast<double>((std::uint64_t{words[0]} << 32 | words[1]) >> 11) * 0x1p-53;
  }

  SamplingOptions options_;
  std::vector<std::size_t> candidates_{};
  std::vector<double> weights_{};  // of the candidates: the sum up to each, with it
};
