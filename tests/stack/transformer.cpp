// labels: more
// A block of a small language model, and its gradients.
#include "painted.hpp"
#include "run/cases/layers.hpp"

constexpr void program(tw::Ir& ir) {
  using Block = tw::layers::TransformerBlock<
      384, 6,
      {.dim_feedforward = 1536, .activation = tw::layers::Activation::gelu, .norm_first = true, .is_causal = true, .dropout = 0}>;
  layer_cases::layer(ir, "block", Block{}, op_cases::f32({4, 256, 384}));
}

int main() { return check_memory<program>("transformer"); }
