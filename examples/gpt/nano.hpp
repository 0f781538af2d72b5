#pragma once
#include "model.hpp"
#include "trainer.hpp"

/// nanoGPT's setting for a CPU: texts of up to 128 different characters; 4 blocks of 4 heads; 12 texts in a step.
inline constexpr gpt::Size nano{.vocabulary = 128, .context = 64, .layers = 4, .heads = 4, .width = 128, .bias = false};
inline constexpr int nano_batch = 12;
/// A step has so many batches of that size, one after the other, and updates the weights by their mean gradient.
inline constexpr int nano_micro_batches = 1;

/// Its training in float16, which is a translation unit of its own: so both are compiled side by side.
std::unique_ptr<gpt::Trainer> make_nano_trainer_in_float16(std::uint64_t seed, int threads);
