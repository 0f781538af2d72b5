// W7 with all variables and activations in float16, and Adam's moments in float32.
#include "gpt_blocks.hpp"

constexpr gpt::Size nano{.vocabulary = 65, .context = 64, .layers = 4, .heads = 4, .width = 128, .dtype = tw::float16};
constexpr tw::optim::AdamParameters parameters() { return {.lr = 1e-4, .first_order_dtype = tw::float32}; }

int main(int argc, char** argv) { return serve_gpt<nano, 12, parameters>(argc, argv); }
