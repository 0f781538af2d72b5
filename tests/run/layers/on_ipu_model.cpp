// labels: more strict
// The same layers on the simulated IPU, also in strict mode.
#include "checks.hpp"

TEST_CASE("norms, transformers and recurrent layers on the IPU model agree with PyTorch's") {
  check_layers<layer_cases::for_texts, tw::ipu_model>(5e-6);
}
TEST_CASE("convolutions and pooling on the IPU model agree with PyTorch's") {
  check_layers<layer_cases::for_images, tw::ipu_model>(2e-6);
}
