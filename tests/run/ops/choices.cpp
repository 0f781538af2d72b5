// labels: asan strict
// Elementwise ops that compare and choose, against PyTorch and finite differences.
#include "../cases/elementwise.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("choices agree with PyTorch, their gradients with finite differences") {
  check_reference<op_cases::choices, tw::cpu>(1e-6);
  check_finite_differences<op_cases::choices, tw::cpu>();
}

TEST_CASE("choices on tiles agree with PyTorch") {
  check_reference<op_cases::choices_of_each_form, tw::cpu.with_tiles(3)>(1e-6);
  check_reference<op_cases::choices_of_each_form, tw::ipu_model>(1e-6);
}
