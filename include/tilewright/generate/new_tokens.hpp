#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tilewright/generate/sampler.hpp"

namespace tilewright::generate {

/// Options of new_tokens. `max_new_tokens` is that of Hugging Face's GenerationConfig, whose default is a `max_length` of 20 with
/// the prompt; `stop_tokens` is its eos_token_id.
struct GenerateOptions {
  std::size_t max_new_tokens = 20;  ///< largest number of new tokens
  std::vector<std::int32_t> stop_tokens{};  ///< tokens that end a text
  SamplerOptions sampler{};  ///< how a token is drawn
};

/// A function that reads tokens and returns the logits of the token that follows.
template <class F>
concept NextLogits = std::is_invocable_r_v<std::span<const float>, F&, std::span<const std::int32_t>>;

/// Continues a prompt token by token, up to a stop token or `max_new_tokens`. Returns the new tokens, of which a stop token is
/// the last. `next_logits(tokens)` gets the tokens that it has not had yet: first the whole prompt, then one token in each call.
/// It returns the logits of the token that follows, one float for each token of the vocabulary, in memory that lives until its
/// next call. `on_token(token)` is called for each new token, for example to print it. Throws std::invalid_argument for an empty
/// prompt, and the exceptions of Sampler.
///
///     const auto next_logits = [&](std::span<const std::int32_t> tokens) { ...; return std::span<const float>(logits); };
///     const auto text = tw::generate::new_tokens(prompt, next_logits, {.max_new_tokens = 48, .stop_tokens = {2}});
template <NextLogits F, class OnToken>
std::vector<std::int32_t> new_tokens(std::span<const std::int32_t> prompt, F&& next_logits, const GenerateOptions& options,
                                     OnToken&& on_token) {
  if (prompt.empty()) throw std::invalid_argument("new_tokens: an empty prompt: one token or more expected");
  Sampler sampler(options.sampler);
  std::vector<std::int32_t> result;
  while (result.size() < options.max_new_tokens) {
    const std::span<const std::int32_t> unread = result.empty() ? prompt : std::span<const std::int32_t>(result).last(1);
    const std::int32_t token = sampler(next_logits(unread), prompt.size() + result.size());
    result.push_back(token);
    on_token(token);
    if (std::ranges::find(options.stop_tokens, token) != options.stop_tokens.end()) break;
  }
  return result;
}
template <NextLogits F>
std::vector<std::int32_t> new_tokens(std::span<const std::int32_t> prompt, F&& next_logits, const GenerateOptions& options = {}) {
  return new_tokens(prompt, next_logits, options, [](std::int32_t) {});
}

}  // namespace tilewright::generate
