// labels: none
// Layers against PyTorch's: results, gradients of inputs and of variables, and changed statistics.
#include "checks.hpp"

TEST_CASE("norms, transformers and recurrent layers agree with PyTorch's") { check_layers<layer_cases::for_texts>(5e-6); }
