// labels: more
// Poolings and images of other sizes, and their gradients.
#include "painted.hpp"
#include "run/cases/layers.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  op_cases::differentiable(
      ir, "largest", [](Tensor x) { return ops::max_pool(x, {3, 3}, {.stride = {2, 2}}); }, op_cases::f32({1, 4, 64, 640}));
  op_cases::differentiable(
      ir, "mean", [](Tensor x) { return ops::average_pool(x, {3, 3}, {.stride = {2, 2}}); }, op_cases::f32({1, 4, 64, 640}));
  op_cases::differentiable(
      ir, "resized", [](Tensor x) { return ops::interpolate(x, {1, 1, 2, 2}, {.mode = tw::ResizeMode::cubic}); },
      op_cases::f32({1, 4, 32, 320}));
}

int main() { return check_memory<program>("images"); }
