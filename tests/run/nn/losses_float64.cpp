// labels: more
// Losses by PyTorch's names in float64, against PyTorch and finite differences.
#include "../cases/losses.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("losses of float64 agree with PyTorch") {
  check_reference<smooth_losses_in_float64, tw::cpu>(1e-7);  // digits of the fixture
  check_reference<losses_with_kinks_in_float64, tw::cpu>(1e-7);
}
TEST_CASE("gradients of smooth losses agree with finite differences") {
  check_finite_differences<smooth_losses_in_float64, tw::cpu>();
}
