// labels: more
// A loop of steps, and its gradients.
#include "painted.hpp"
#include "run/cases/layers.hpp"

constexpr void program(tw::Ir& ir) { layer_cases::layer(ir, "lstm", tw::layers::LSTM<128>{}, op_cases::f32({8, 20, 64})); }

int main() { return check_memory<program>("recurrent"); }
