// labels: more
// Second derivatives of norms, attention and losses, against PyTorch and differences of the first ones.
#include "../cases/op_checks.hpp"
#include "../cases/second.hpp"

using namespace op_cases;

TEST_CASE("second derivatives of norms, attention and losses agree with PyTorch and with differences") {
  check_reference<second_of_norms, tw::cpu>(1e-9);
  check_finite_differences<second_of_norms, tw::cpu>(1e-6);
  check_reference<second_of_attention, tw::cpu>(1e-5);
  check_finite_differences<second_of_attention, tw::cpu>();
  check_reference<second_of_losses, tw::cpu>(1e-9);
  check_finite_differences<second_of_losses, tw::cpu>(1e-6);
}
