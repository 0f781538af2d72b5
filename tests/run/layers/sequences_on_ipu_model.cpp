// labels: more strict
// The cases of sequences.cpp and small_layers.cpp on a simulated IPU.
#include "checks.hpp"

namespace {
constexpr void all_cases(tw::Ir& ir) {
  layer_cases::sequences(ir);
  layer_cases::small_layers(ir);
}
}  // namespace

TEST_CASE("recurrent layers of sequences, lists of modules and adaptive pools on the IPU model agree with PyTorch's") {
  check_layers<all_cases, tw::ipu_model>(5e-6);
}
