// labels: asan
// Slices, concats, splits and diagonals on the host: their values and gradients.
#include "../cases/slices.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("slices, concats and splits agree with NumPy and PyTorch") { check_reference<op_cases::all_slices, tw::cpu>(1e-5); }
TEST_CASE("gradients of slices, concats and splits agree with finite differences") {
  check_finite_differences<op_cases::all_slices, tw::cpu>();
}
TEST_CASE("cases_slices.hpp and make_slices.py have the same cases, of the same tensors") {
  check_same_cases("ops_slices.txt", {op_cases::all_slices, op_cases::parts_in_place, op_cases::parts_of_other_dtypes});
}
