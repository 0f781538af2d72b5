// W8 with gradients clipped by their global norm.
#include "gpt_124m.hpp"

int main(int argc, char** argv) {
  static_assert(gpt_frame<gpt2, 1, parameters, 1> < 13 * block_bytes, "of all gradients there is one copy, and little else");
  return serve_gpt<gpt2, 1, parameters, 1>(argc, argv);
}
