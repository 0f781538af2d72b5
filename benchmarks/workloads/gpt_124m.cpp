// W8: the blocks of GPT-2 124M, gradient descent.
#include "gpt_124m.hpp"

int main(int argc, char** argv) {
  static_assert(gpt_frame<gpt2, 1, parameters> < 350'000'000 / 4, "gradients of the blocks' weights are never stored");
  return serve_gpt<gpt2, 1, parameters>(argc, argv);
}
