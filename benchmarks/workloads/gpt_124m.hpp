#pragma once
// The blocks of GPT-2 124M, one text of 128 tokens, gradient descent.
#include "gpt_blocks.hpp"

constexpr gpt::Size gpt2{.vocabulary = 512, .context = 128, .layers = 12, .heads = 12, .width = 768};
constexpr tw::optim::SgdParameters parameters() { return {.lr = 0.05}; }

/// Of the weights of a block: 12 width^2 + 13 width numbers.
constexpr std::int64_t block_bytes = 4 * (12 * gpt2.width + 13) * gpt2.width;
