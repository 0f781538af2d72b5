// labels: asan more
// Ops in float16 and float64 against PyTorch: those that other sources have in float32 only.
#include "../cases/dtypes.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("functions and arithmetic in float64 agree with PyTorch") {
  constexpr double tolerance = 1e-14;  // results and sums of 7 gradients, each rounded by up to 2^-53
  check_reference<float_functions<tw::float64>, tw::cpu>(tolerance);
  check_reference<float_arithmetic<tw::float64>, tw::cpu>(tolerance);
}
TEST_CASE("reductions, lines and indices in float64 agree with PyTorch") {
  check_reference<float_reductions<tw::float64>, tw::cpu>(1e-14);
  check_reference<float_lines_and_indices<tw::float64>, tw::cpu>(1e-14);
}
TEST_CASE("layers and losses in float64 have all its digits") {
  check_reference<exact_functions_and_losses, tw::cpu>(1e-14);
  check_reference<exact_networks, tw::cpu>(1e-14);
}
TEST_CASE("functions, arithmetic, lines and indices in float16 agree with PyTorch") {
  check_reference<float_functions<tw::float16>, tw::cpu>(1e-3);   // rounding is up to 2^-11
  check_reference<float_arithmetic<tw::float16>, tw::cpu>(2e-3);  // of several ops, each rounded
  check_reference<float_lines_and_indices<tw::float16>, tw::cpu>(1e-3);
}
