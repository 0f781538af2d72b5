#pragma once
#include <array>
#include <numeric>
#include <tilewright/tilewright.hpp>

#include "steps.hpp"
#include "trainer.hpp"

namespace gpt {

/// A trainer that runs train_step: batches of micro_batches x batch texts of `length` tokens.
template <Size size, int batch, int micro_batches, int length = size.context>
class SessionTrainer final : public Trainer {
 public:
  SessionTrainer(std::uint64_t seed, int threads) : session_({.seed = seed, .threads = threads}), seed_(seed) {}

  float run(const tw::data::TextBatch& texts, float rate, std::uint64_t step) override {
    using namespace tw::literals;
    if constexpr (micro_batches == 1) return mean_loss(texts.tokens, texts.targets, rate, step);
    else return mean_loss(in_micro_batches(texts.tokens), in_micro_batches(texts.targets), rate, step);
  }
  std::vector<tw::HostTensor> host_tensors() const override {
    const auto tensors = session_.host_tensors();
    return {tensors.begin(), tensors.end()};
  }
  void load_tensors(const tw::HostTensors& tensors, const tw::LoadPolicy& policy) override {
    session_.load_tensors(tensors, policy);
  }

 private:
  static constexpr std::array<std::size_t, 3> shape{micro_batches, batch, length};

  static auto in_micro_batches(const tw::data::TextBatch::Tokens& tokens) {
    return xt::adapt(tokens.data(), tokens.size(), xt::no_ownership(), shape);
  }
  float mean_loss(const auto& tokens, const auto& targets, float rate, std::uint64_t step) {
    using namespace tw::literals;
    if constexpr (size.dropout == 0) {
      return mean(session_.run("tokens"_s = tokens, "targets"_s = targets, "rate"_s = rate)["loss"_s]);
    } else {
      const auto seeds = tw::create_seeds(seed_, {.offset = step, .gradient_accumulation_factor = micro_batches});
      constexpr std::array<std::size_t, micro_batches == 1 ? 1 : 2> seed_shape = [] {
        if constexpr (micro_batches == 1) return std::array<std::size_t, 1>{2};
        else return std::array<std::size_t, 2>{micro_batches, 2};
      }();
      const auto seed = xt::adapt(seeds.data(), seeds.size(), xt::no_ownership(), seed_shape);
      return mean(session_.run("tokens"_s = tokens, "targets"_s = targets, "rate"_s = rate, "seed"_s = seed)["loss"_s]);
    }
  }
  static float mean(const auto& losses) {
    return std::accumulate(losses.data(), losses.data() + losses.size(), 0.0F) / static_cast<float>(losses.size());
  }

  tw::Session<train_step<size, batch, length, micro_batches>> session_;
  std::uint64_t seed_;
};

template <Size size, int batch, int micro_batches, int length = size.context>
std::unique_ptr<Trainer> make_trainer(std::uint64_t seed, int threads) {
  return std::make_unique<SessionTrainer<size, batch, micro_batches, length>>(seed, threads);
}

}  // namespace gpt
