// labels: more strict
// The same layers in float16 on the simulated IPU, also in strict mode.
#include "half_checks.hpp"

TEST_CASE("norms, transformers and recurrent layers in float16 on the IPU model agree with PyTorch's, but for roundings") {
  check_half_layers<layer_cases::half_for_texts<tw::float16>, tw::float16, tw::ipu_model>();
}
TEST_CASE("convolutions and pooling in float16 on the IPU model agree with PyTorch's, but for roundings") {
  check_half_layers<layer_cases::half_for_images<tw::float16>, tw::float16, tw::ipu_model>();
}
