// labels: more
// Convolutions by channels and by pixels, with strides, in float32 and float16, and their gradients.
#include "painted.hpp"
#include "run/cases/layers.hpp"

constexpr void program(tw::Ir& ir) {
  using namespace layer_cases;
  layer(ir, "first", layers::Conv2d<32, {3, 3}, {.padding = {1, 1}}>{}, floats<tw::float32>({4, 1, 28, 28}));
  layer(ir, "second", layers::Conv2d<64, {3, 3}, {.padding = {1, 1}}>{}, floats<tw::float32>({4, 32, 14, 14}));
  layer(ir, "strided", layers::Conv2d<32, {4, 4}, {.stride = {2, 2}, .padding = {1, 1}}>{}, floats<tw::float32>({2, 16, 32, 32}));
  layer(ir, "half", layers::Conv2d<32, {3, 3}, {.padding = {1, 1}}>{}, floats<tw::float16>({2, 16, 16, 16}));
}

int main() { return check_memory<program>("convolutions"); }
