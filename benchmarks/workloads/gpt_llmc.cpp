// W9: a GPT of the size that llm.c's tests have, with embedding and head: batches of 4 texts of 64 tokens, AdamW.
#include "gpt_blocks.hpp"

namespace {

constexpr gpt::Size size{.vocabulary = 512, .context = 64, .layers = 4, .heads = 4, .width = 128};
constexpr int batch = 4;

constexpr void step(tw::Ir& ir) {
  tw::train::train_step(ir, gpt::Gpt<size>{}, tw::optim::AdamWParameters{.lr = 1e-4, .weight_decay = 0},
                        {{batch, size.context}, tw::int32}, {.target_shape = {batch, size.context}});
}

}  // namespace

int main(int argc, char** argv) {
  return serve_step<step>(argc, argv, random_tokens<size.vocabulary>(batch, size.context), random_labels(batch, size.context));
}
