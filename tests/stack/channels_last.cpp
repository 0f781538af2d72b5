// labels: more
// A convolutional network whose images have channels as the last axis of memory, and its gradients.
#include "../../benchmarks/workloads/cnn.hpp"
#include "painted.hpp"
#include "run/cases/layers.hpp"

constexpr void program(tw::Ir& ir) { layer_cases::layer(ir, "net", ConvolutionalNet{}, op_cases::f32({8, 1, 28, 28})); }

int main() { return check_memory<program>("channels last"); }
