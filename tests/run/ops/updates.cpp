// labels: arm asan
#include "../cases/ops_checks.hpp"

TEST_CASE("layers, updates and other dtypes on the host agree with PyTorch") { check_layers<tw::cpu>(); }
TEST_CASE("updates in double precision agree with PyTorch") { check_reference<op_cases::double_updates, tw::cpu>(1e-7); }
TEST_CASE("gradients of layers on the host agree with finite differences") {
  check_finite_differences<op_cases::float32_layers, tw::cpu>();
}
