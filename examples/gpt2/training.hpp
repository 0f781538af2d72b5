#pragma once
// The host's part of GPT-2: weights from a file, tokens as text or numbers, some steps of training, and a text that goes on.
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/core/philox.hpp>
#include <vector>

#include "../gpt/trainer.hpp"
#include "../gpt/writer.hpp"
#include "options.hpp"
#include "tensor_rules.hpp"
#include "token_text.hpp"

namespace gpt2 {

namespace tw = tilewright;
/// Tokens for some steps, if there is no text: independent of each other, and with equal probabilities.
inline Tokens random_tokens(std::size_t count, std::int32_t vocabulary, std::uint64_t seed) {
  Tokens tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<std::int32_t>(
        tw::philox({static_cast<std::uint32_t>(i), 0, 0, 1}, {static_cast<std::uint32_t>(seed), 0})[0] %
        static_cast<std::uint32_t>(vocabulary));
  return tokens;
}

/// Steps of training on batches of a text, whose losses it prints.
inline void run(gpt::Trainer& trainer, const Tokens& text, std::size_t batch, std::size_t length, const Gpt2Options& options) {
  tw::data::TextBatches batches(text, {.batch_size = batch, .context = length, .seed = options.seed});
  for (std::uint64_t step = 1; step <= options.steps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    const float loss = trainer.run(batches.next(), static_cast<float>(options.rate), step - 1);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::printf("step %llu: loss %.4f, %.0f tokens/s\n", static_cast<unsigned long long>(step), static_cast<double>(loss),
                static_cast<double>(batch * length) / time.count());
  }
}

/// Prints the prompt and what the model writes after it, token by token.
template <gpt::Size size, int prompt_length>
void write_text(gpt::WritingSession<size, prompt_length>& session, const Tokens& prompt, const TokenText& text,
                const Gpt2Options& options) {
  gpt::Writer<size, prompt_length> writer(
      session, {.temperature = options.temperature, .top_k = options.top_k, .top_p = options.top_p, .seed = options.seed});
  writer.read(prompt);
  for (const std::int32_t token : prompt) std::printf("%s", text.write(token).c_str());
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < options.generate; ++i) {
    std::printf("%s", text.write(writer.write()).c_str());
    std::fflush(stdout);
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("\n%llu tokens, %.1f tokens/s with those of the prompt\n", static_cast<unsigned long long>(options.generate),
              static_cast<double>(options.generate + prompt.size()) / time.count());
}

/// The whole program. The trainer, of batches of `batch` x `length` tokens, is made if it is needed: it holds all weights again.
/// Up to `prompt_length` tokens of a prompt are read in one pass.
template <gpt::Size size, int batch, int length, int prompt_length>
void train_and_write(const Gpt2Options& options, gpt::MakeTrainer make_trainer) {
  const TokenText text(options, size.vocabulary);
  const Tokens prompt = text.read(options.prompt);
  if (options.weights.empty()) std::printf("Weights are random: --weights FILE reads trained ones.\n");
  const auto load = [&](auto& loaded) {
    if (options.weights.empty()) return;
    loaded.load_tensors(tw::map_tensors(tw::load_safetensors(options.weights), tensor_rules()),
                        {.allow_missing = gpt::no_weights});
  };
  gpt::WritingSession<size, prompt_length> session({.seed = options.seed, .threads = options.threads});
  if (options.steps > 0) {
    if (options.data.empty()) std::printf("It trains with random tokens: --data FILE reads a text.\n");
    const Tokens tokens = options.data.empty() ? random_tokens(batch * length * 64, size.vocabulary, options.seed)
                                               : text.load(options.data);
    const auto trainer = make_trainer(options.seed, options.threads);
    load(*trainer);
    run(*trainer, tokens, batch, length, options);
    session.load_tensors({"the trainer", trainer->host_tensors()},
                         {.allow_extra = gpt::no_weights, .allow_missing = gpt::no_weights});
  } else {
    load(session);
  }
  if (options.generate > 0) write_text<size, prompt_length>(session, prompt, text, options);
}

}  // namespace gpt2
