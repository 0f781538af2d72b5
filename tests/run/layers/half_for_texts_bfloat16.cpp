// labels: more
// The same layers in bfloat16, whose ops other tests compare.
#include "half_checks.hpp"

TEST_CASE("norms, transformers and recurrent layers in bfloat16 agree with PyTorch's, but for roundings") {
  check_half_layers<layer_cases::half_for_texts<tw::bfloat16>, tw::bfloat16>();
}
