#pragma once
#include "../gpt/model.hpp"
#include "../gpt/trainer.hpp"

/// The smallest of GPT-2's four sizes, and the batches that it trains with.
inline constexpr gpt::Size size_124m{.vocabulary = 50257, .context = 1024, .layers = 12, .heads = 12, .width = 768};
inline constexpr int batch_124m = 1, length_124m = 128;
/// So many tokens of a prompt it reads in one pass, and the others one by one.
inline constexpr int prompt_length_124m = 64;

/// Its training, which is a translation unit of its own: so it is compiled beside generation, and takes less memory.
std::unique_ptr<gpt::Trainer> make_trainer_124m(std::uint64_t seed, int threads);
