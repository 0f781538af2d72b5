#include "op_checks.hpp"

TEST_CASE("every op on the host agrees with PyTorch") {
  check_reference<op_cases::float32_ops, tw::cpu>(1e-5);
  check_reference<op_cases::other_ops, tw::cpu>(1e-3);
}
TEST_CASE("every gradient on the host agrees with finite differences") {
  check_finite_differences<op_cases::float32_ops, tw::cpu>();
}
