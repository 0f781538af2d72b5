#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilewright/core/number.hpp"
#include "tilewright/core/philox.hpp"

/// Texts from a language model: draws tokens from logits, and continues a prompt.
namespace tilewright::generate {

/// Options of Sampler. Names and meanings are those of Hugging Face's GenerationConfig, except `seed`; its `top_k` is 50 by
/// default. They apply in the order of the members: first the temperature, then top_k, then top_p.
struct SamplerOptions {
  double temperature = 1;  ///< divisor of the logits; 0: always the token of the largest logit, the first of equal ones
  std::size_t top_k = 0;  ///< number of the most probable tokens that may be drawn, of equal ones the first; 0: all
  double top_p = 1;  ///< only the most probable tokens may be drawn, as few as have this probability together; 1: all
  std::uint64_t seed = 0;  ///< seed of the random numbers
};

/// Draws the tokens of a text from logits. A draw depends on the logits, the seed and the token's position only, so a text that
/// is continued later goes on as it would have.
///
///     tw::generate::Sampler sampler({.temperature = 0.8, .top_p = 0.95, .seed = 1});
///     const std::int32_t token = sampler(logits, position);
class Sampler {
 public:
  /// Throws std::invalid_argument for a temperature that is negative, infinite or NaN, and a top_p outside of 0 to 1.
  explicit Sampler(const SamplerOptions& options = {}) : options_(options) {
    if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
      fail("a temperature of " + number_text(options.temperature).string(), "a finite number, 0 or above,");
    if (!(options.top_p >= 0 && options.top_p <= 1))
      fail("a top_p of " + number_text(options.top_p).string(), "a number from 0 to 1");
  }

  const SamplerOptions& options() const { return options_; }

  /// Returns the token at `position` of a text. A logit of -infinity excludes its token. Throws std::invalid_argument for no
  /// logits, logits that are NaN or infinite, and logits that exclude all tokens.
  std::int32_t operator()(std::span<const float> logits, std::uint64_t position) {
    const std::size_t largest = largest_of(logits, position);
    if (is_greedy()) return static_cast<std::int32_t>(largest);
    choose(logits, static_cast<double>(logits[largest]));
    double sum = 0;
    for (Candidate& candidate : candidates_) candidate.weight = sum += candidate.weight;
    const double drawn = (std::min)(uniform(position) * sum, std::nextafter(sum, 0.0));  // the product may round to the sum
    const auto found = std::ranges::upper_bound(candidates_, drawn, {}, &Candidate::weight);
    return static_cast<std::int32_t>(found->token);
  }
  /// Returns the probability with which each token is drawn: 0 for those that the options exclude. Throws as a draw does.
  std::vector<double> probabilities(std::span<const float> logits) {
    const std::size_t largest = largest_of(logits, 0);
    std::vector<double> result(logits.size());
    if (is_greedy()) {
      result[largest] = 1;
      return result;
    }
    choose(logits, static_cast<double>(logits[largest]));
    const double sum = sum_of_weights();
    for (const Candidate& candidate : candidates_) result[candidate.token] = candidate.weight / sum;
    return result;
  }

 private:
  /// A token that may be drawn, and a number in proportion to its probability.
  struct Candidate {
    std::size_t token;
    double weight;
  };

  [[noreturn]] static void fail(const std::string& found, const std::string& expected) {
    throw std::invalid_argument("Sampler: " + found + ": " + expected + " expected");
  }
  bool is_greedy() const { return options_.temperature == 0 || options_.top_k == 1; }
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
  /// Finds the tokens that may be drawn, in ascending order.
  void choose(std::span<const float> logits, double largest) {
    candidates_.clear();
    for (std::size_t token = 0; token < logits.size(); ++token)
      candidates_.push_back({token, std::exp((static_cast<double>(logits[token]) - largest) / options_.temperature)});
    const auto logit = [&](const Candidate& candidate) { return logits[candidate.token]; };
    const auto is_before = [&](const Candidate& a, const Candidate& b) {
      return logit(a) != logit(b) ? logit(a) > logit(b) : a.token < b.token;
    };
    const bool limits_count = options_.top_k > 0 && options_.top_k < logits.size();
    if (limits_count) {
      std::ranges::nth_element(candidates_, candidates_.begin() + static_cast<std::ptrdiff_t>(options_.top_k), is_before);
      candidates_.resize(options_.top_k);
    }
    if (options_.top_p < 1) {
      std::ranges::sort(candidates_, is_before);
      keep_most_probable();
    }
    if (limits_count || options_.top_p < 1) std::ranges::sort(candidates_, {}, &Candidate::token);
  }
  /// Keeps the first candidates, as few as reach top_p together, at least one ("The Curious Case of Neural Text Degeneration",
  /// arXiv 1904.09751).
  void keep_most_probable() {
    const double needed = options_.top_p * sum_of_weights();
    double sum = candidates_.front().weight;
    std::size_t count = 1;
    for (; count < candidates_.size() && sum < needed; ++count) sum += candidates_[count].weight;
    candidates_.resize(count);
  }
  double sum_of_weights() const {
    double sum = 0;
    for (const Candidate& candidate : candidates_) sum += candidate.weight;
    return sum;
  }
  /// Returns a number in [0, 1), of 53 bits.
  double uniform(std::uint64_t position) const {
    constexpr std::uint32_t own = 0x746f6b65;  // no random number of the library has it in its counter's last word
    const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const auto words = philox({low(position), low(position >> 32), 0, own}, {low(options_.seed), low(options_.seed >> 32)});
    return static_cast<double>((std::uint64_t{words[0]} << 32 | words[1]) >> 11) * 0x1p-53;
  }

  SamplerOptions options_;
  std::vector<Candidate> candidates_{};  // memory that the next draw uses again
};

}  // namespace tilewright::generate
