// W1a: Adam as torch.optim.Adam does it, both moments float32.
#include "mnist_adam.hpp"

constexpr tw::optim::AdamParameters parameters() { return {.lr = 1e-3, .epsilon = 1e-8, .first_order_dtype = tw::float32}; }
int main(int argc, char** argv) { return serve_adam<parameters>(argc, argv); }
