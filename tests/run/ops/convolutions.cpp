// labels: asan
#include "../cases/ops_checks.hpp"

TEST_CASE("convolutions and pools on the host agree with PyTorch") {
  check_reference<op_cases::convolutions, tw::cpu>(1e-5);
  check_reference<op_cases::half_convolutions, tw::cpu>(1e-3);
}
TEST_CASE("gradients of convolutions and pools agree with finite differences") {
  check_finite_differences<op_cases::convolutions, tw::cpu>();
}
