// labels: light
// Recurrent layers of padded sequences, in both directions, with initial states and dropout.
#include "checks.hpp"

TEST_CASE("recurrent layers of sequences of different lengths, in both directions, agree with PyTorch's") {
  check_layers<layer_cases::sequences>(5e-6);
}
