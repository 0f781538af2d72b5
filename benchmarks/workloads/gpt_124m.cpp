// W8: the blocks of GPT-2 124M, one text of 128 tokens, gradient descent.
#include "gpt_blocks.hpp"

constexpr gpt::Size gpt2{.vocabulary = 512, .context = 128, .layers = 12, .heads = 12, .width = 768};
constexpr tw::optim::SgdParameters parameters() { return {.lr = 0.05}; }

int main(int argc, char** argv) { return serve_gpt<gpt2, 1, parameters>(argc, argv); }
