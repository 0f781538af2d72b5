// labels: none
// Linear layers of the usual widths, and their gradients.
#include "painted.hpp"
#include "run/cases/layers.hpp"
#include "tutorial/net.hpp"

constexpr void program(tw::Ir& ir) { layer_cases::layer(ir, "net", Net{}, op_cases::f32({8, 28, 28})); }

int main() { return check_memory<program>("perceptron"); }
