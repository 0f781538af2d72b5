// labels: more
// First derivatives in both modes, and second ones, of norms, attention and losses, against PyTorch and differences of the first
// ones.
#include "../cases/op_checks.hpp"
#include "../cases/second.hpp"

using namespace op_cases;

TEST_CASE("first and second derivatives of norms, attention and losses agree with PyTorch and with differences") {
  check_reference<second_of_norms, tw::cpu>(1e-9);
  check_modes<second_of_norms, tw::cpu>(1e-10);
  check_finite_differences<second_of_norms, tw::cpu>(1e-6);
  check_reference<second_in_float32, tw::cpu>(1e-5);
  check_modes<second_in_float32, tw::cpu>(1e-5);
  check_finite_differences<second_in_float32, tw::cpu>();
  check_reference<second_of_losses, tw::cpu>(1e-9);
  check_modes<second_of_losses, tw::cpu>(1e-10);
  check_finite_differences<second_of_losses, tw::cpu>(1e-6);
}
