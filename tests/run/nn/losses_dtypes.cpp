// labels: more
// Losses by PyTorch's names in float16 and bfloat16, against PyTorch in float64.
#include "../cases/losses.hpp"
#include "../cases/op_checks.hpp"
#include "../cases/relative_checks.hpp"

using namespace op_cases;

// Half a distance of neighbours, as of one rounding, and the error of float32.
TEST_CASE("losses of float16 agree with PyTorch in float64, rounded once") {
  check_relative<losses_in_float16, tw::cpu>(tw::float16, 0x1.01p-11, 0x1.01p-25);
  check_relative<edges_of_losses_in_float16, tw::cpu>(tw::float16, 0x1.01p-11, 0x1.01p-25);
  check_reference<losses_in_float16, tw::cpu>(0x1.01p-11);
}
TEST_CASE("losses of bfloat16 agree with PyTorch in float64, rounded once") {
  check_relative<smooth_losses_in_bfloat16, tw::cpu>(tw::bfloat16, 0x1.01p-8, 2e-7);
  check_reference<smooth_losses_in_bfloat16, tw::cpu>(0x1.01p-8);
}
