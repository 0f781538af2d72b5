// W1h: Adam as the custom optimiser tutorial has it: first moment float16, no bias correction.
#include "mnist_adam.hpp"

constexpr tw::optim::AdamParameters parameters() {
  return {.lr = 1e-3, .first_order_dtype = tw::float16, .bias_correction = false};
}
int main(int argc, char** argv) { return serve_adam<parameters>(argc, argv); }
