// labels: arm asan clang quick
#include "../cases/ops_checks.hpp"

TEST_CASE("functions on the host agree with PyTorch") { check_functions<tw::cpu>(); }
TEST_CASE("gradients of functions on the host agree with finite differences") {
  check_finite_differences<op_cases::float32_functions, tw::cpu>();
}

TEST_CASE("op_cases.hpp and make_fixtures.py have the same cases, of the same tensors") {
  check_same_cases("ops.txt", {op_cases::float32_functions, op_cases::float32_layers, op_cases::other_gradients,
                               op_cases::half_precision, op_cases::half_precision_norms_and_updates, op_cases::double_updates,
                               op_cases::integers_and_casts, op_cases::convolutions, op_cases::half_convolutions});
}
