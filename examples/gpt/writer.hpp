#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tilewright/generate/sampler.hpp>
#include <tilewright/tilewright.hpp>
#include <type_traits>
#include <vector>

#include "steps.hpp"

namespace gpt {

/// A session that reads prompts in one pass, or, with a `prompt_length` of 0, token by token.
template <Size size, int prompt_length>
using WritingSession =
    std::conditional_t<prompt_length == 0, tw::Session<generate_step<size>>, tw::Session<write_step<size, prompt_length>>>;

/// Goes on with a text, token by token. Where the context is full, its last half becomes the beginning of the next.
template <Size size, int prompt_length = 0>
class Writer {
 public:
  using Session = WritingSession<size, prompt_length>;

  /// tokens: how many different ones there are, if they are fewer than the vocabulary's.
  Writer(Session& session, const tw::generate::SamplerOptions& options, std::int32_t tokens = size.vocabulary)
      : session_(session), sampler_(options), count_(tokens) {}

  /// Appends tokens that are given.
  void read(std::span<const std::int32_t> tokens) { tokens_.insert(tokens_.end(), tokens.begin(), tokens.end()); }
  /// Appends the next token, and gives it. There must be one before it.
  std::int32_t write() {
    if (tokens_.size() - begin_ > context) begin_ = next_ = tokens_.size() - context / 2;
    if (next_ == begin_ && tokens_.size() - begin_ >= shortest_prompt) read_prompt();
    while (next_ < tokens_.size()) read_token();
    const std::int32_t token = sampler_(logits_, tokens_.size());
    tokens_.push_back(token);
    return token;
  }

 private:
  static constexpr auto context = static_cast<std::size_t>(size.context), read_at_once = std::size_t{prompt_length};
  /// Fewer tokens are faster one by one: a pass takes as long as for a prompt without padding.
  static constexpr std::size_t shortest_prompt = prompt_length == 0 ? std::numeric_limits<std::size_t>::max()
                                                                    : std::max<std::size_t>(2, read_at_once / 16);

  void read_prompt() {
    const std::size_t count = std::min(tokens_.size() - begin_, read_at_once);
    std::copy_n(tokens_.begin() + static_cast<std::ptrdiff_t>(begin_), count, given_.begin());
    next_ += count;
    run(true);
  }
  void read_token() {
    given_(0) = tokens_[next_++];
    run(false);
  }
  /// Reads tokens of which the last one is that before next_.
  void run([[maybe_unused]] bool is_prompt) {
    using namespace tw::literals;
    position_(0) = static_cast<std::int32_t>(next_ - begin_ - 1);
    const auto logits = [&] {
      if constexpr (prompt_length == 0) return session_.run("token"_s = given_, "position"_s = position_)["logits"_s];
      else return session_.run("tokens"_s = given_, "position"_s = position_, "is_prompt"_s = is_prompt)["logits"_s];
    }();
    logits_.assign(logits.data(), logits.data() + count_);
  }

  Session& session_;
  tw::generate::Sampler sampler_;
  std::int32_t count_;
  std::vector<std::int32_t> tokens_{};
  std::size_t begin_ = 0, next_ = 0;  // the token at position 0, and the first that the session has not had
  xt::xtensor<std::int32_t, 1> given_ = xt::zeros<std::int32_t>({std::max<std::size_t>(1, read_at_once)}),
                               position_ = xt::zeros<std::int32_t>({1});
  std::vector<float> logits_{};
};

}  // namespace gpt
