// labels: more
// Layers that have windows against PyTorch's.
#include "checks.hpp"

TEST_CASE("convolutions and pooling agree with PyTorch's") { check_layers<layer_cases::for_images>(2e-6); }
