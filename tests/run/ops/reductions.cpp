// labels: asan
#include "../cases/reductions.hpp"

#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("reductions have the cases of their reference") {
  check_same_cases("ops_reductions.txt", {selections, sums_of_functions, lines, ties_and_special_numbers, indices,
                                          half_reductions, double_reductions, reductions_of_other_dtypes, reductions_in_tiles,
                                          reductions_in_parts, other_reductions_in_parts, integers_in_parts, losses_in_parts});
}
TEST_CASE("reductions agree with PyTorch") {
  check_reference<selections, tw::cpu>(1e-5);
  check_reference<sums_of_functions, tw::cpu>(1e-5);
  check_reference<lines, tw::cpu>(1e-5);
}
TEST_CASE("gradients of reductions agree with finite differences") {
  check_finite_differences<selections, tw::cpu>();
  check_finite_differences<sums_of_functions, tw::cpu>();
  check_finite_differences<lines, tw::cpu>();
}
