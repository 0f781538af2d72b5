// labels: asan rest
// Reductions of ties, zeros, NaN and infinities, of integers and of half precision; indices and counts.
#include "../cases/op_checks.hpp"
#include "../cases/reductions.hpp"

using namespace op_cases;

TEST_CASE("reductions of ties, zeros, NaN and infinities") { check_reference<ties_and_special_numbers, tw::cpu>(1e-5); }
TEST_CASE("indices, counts and integers are exact") { check_reference<indices, tw::cpu>(0); }
TEST_CASE("reductions of half precision agree with PyTorch") { check_reference<half_reductions, tw::cpu>(1e-3); }
TEST_CASE("reductions of double precision agree with PyTorch, their gradients with finite differences") {
  check_reference<double_reductions, tw::cpu>(1e-7);  // the text has 8 digits
  check_finite_differences<double_reductions, tw::cpu>();
}
TEST_CASE("reductions of integers are as in NumPy, and wrap around") { check_reference<reductions_of_other_dtypes, tw::cpu>(0); }
