// labels: light
// Lists of modules, a table with padding, adaptive pools and a pool with a divisor.
#include "checks.hpp"

TEST_CASE("lists of modules, embeddings with padding and adaptive pools agree with PyTorch's") {
  check_layers<layer_cases::small_layers>(5e-6);
}
