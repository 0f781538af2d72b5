// A block of a small language model, and its gradients.
#include "painted.hpp"
#include "run/cases_layers.hpp"

constexpr void program(tw::Ir& ir) {
  layer_cases::layer(ir, "block", tw::layers::TransformerBlock<384, 6, {.is_causal = true}>{}, op_cases::f32({4, 256, 384}));
}

int main() { return check_stack<program>("transformer"); }
