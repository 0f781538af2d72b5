// labels: more
// Layers in half precision against PyTorch's: results, gradients of inputs and of variables, and changed statistics.
#include "half_checks.hpp"

TEST_CASE("norms, transformers and recurrent layers in float16 agree with PyTorch's, but for roundings") {
  check_half_layers<layer_cases::half_for_texts<tw::float16>, tw::float16>();
}
