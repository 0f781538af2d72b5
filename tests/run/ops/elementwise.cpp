// labels: asan
// The elementwise ops against PyTorch and finite differences.
#include "../cases/elementwise.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("functions of one tensor and powers agree with PyTorch, their gradients with finite differences") {
  check_reference<op_cases::functions, tw::cpu>(1e-6);
  check_reference<op_cases::powers, tw::cpu>(2e-6);
  check_finite_differences<op_cases::functions, tw::cpu>();
  check_finite_differences<op_cases::powers, tw::cpu>();
}

TEST_CASE("ops in place agree with PyTorch, their gradients with finite differences") {
  check_reference<op_cases::in_place, tw::cpu>(1e-6);
  check_finite_differences<op_cases::in_place, tw::cpu>();
}
