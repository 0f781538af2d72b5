#pragma once
// nanoGPT's setting for a CPU: batches of 12, Adam.
#include "gpt_blocks.hpp"

constexpr gpt::Size nano{.vocabulary = 65, .context = 64, .layers = 4, .heads = 4, .width = 128};
constexpr int nano_batch = 12;
constexpr tw::optim::AdamParameters nano_parameters() { return {.lr = 1e-4, .first_order_dtype = tw::float32}; }
