#pragma once
// A training step of a GPT of the size that llm.c's tests have, with embedding and head: batches of 4 texts of 64 tokens, AdamW.
#include "gpt_blocks.hpp"

constexpr gpt::Size llmc{.vocabulary = 512, .context = 64, .layers = 4, .heads = 4, .width = 128};
constexpr int llmc_batch = 4;

constexpr void llmc_step(tw::Ir& ir) {
  tw::train::train_step(ir, gpt::Gpt<llmc>{}, tw::optim::AdamWParameters{.lr = 1e-4, .weight_decay = 0},
                        {{llmc_batch, llmc.context}, tw::int32}, {.target_shape = {llmc_batch, llmc.context}});
}
