#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <tilewright/generate/sampler.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "steps.hpp"

namespace gpt {

/// Goes on with a text, token by token, by a session of a generate_step. Where the context is full, its last half becomes the
/// beginning of the next.
template <Size size, class Session = tw::Session<generate_step<size>>>
class Writer {
 public:
  /// tokens: how many different ones there are, if they are fewer than the vocabulary's.
  Writer(Session& session, const tw::generate::SamplerOptions& options, std::int32_t tokens = size.vocabulary)
      : session_(session), sampler_(options), count_(tokens) {}

  /// Appends tokens that are given.
  void read(std::span<const std::int32_t> tokens) { tokens_.insert(tokens_.end(), tokens.begin(), tokens.end()); }
  /// Appends the next token, and gives it. There must be one before it.
  std::int32_t write() {
    if (tokens_.size() - begin_ > context) begin_ = next_ = tokens_.size() - context / 2;
    while (next_ < tokens_.size()) feed(next_++);
    const std::int32_t token = sampler_(logits_, tokens_.size());
    tokens_.push_back(token);
    return token;
  }

 private:
  static constexpr auto context = static_cast<std::size_t>(size.context);

  void feed(std::size_t i) {
    using namespace tw::literals;
    token_(0) = tokens_[i];
    position_(0) = static_cast<std::int32_t>(i - begin_);
    const auto logits = session_.run("token"_s = token_, "position"_s = position_)["logits"_s];
    logits_.assign(logits.data(), logits.data() + count_);
  }

  Session& session_;
  tw::generate::Sampler sampler_;
  std::int32_t count_;
  std::vector<std::int32_t> tokens_{};
  std::size_t begin_ = 0, next_ = 0;  // the token at position 0, and the first that the session has not had
  xt::xtensor<std::int32_t, 1> token_ = xt::zeros<std::int32_t>({1}), position_ = xt::zeros<std::int32_t>({1});
  std::vector<float> logits_{};
};

}  // namespace gpt
