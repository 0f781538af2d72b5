#include "op_checks.hpp"

TEST_CASE("every op on the host agrees with PyTorch") { check_reference<tw::cpu>(); }
TEST_CASE("every gradient on the host agrees with finite differences") {
  check_finite_differences<op_cases::float32_ops, tw::cpu>();
}
