// labels: asan more
// Ops on integers against NumPy, and ops that only move elements of any dtype.
#include "../cases/dtypes.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("ops in place, lines, reductions, comparisons and powers of integers are as in NumPy") {
  check_reference<all_of_integers<tw::int8>, tw::cpu>(0);
  check_reference<all_of_integers<tw::int16>, tw::cpu>(0);
  check_reference<all_of_integers<tw::int32>, tw::cpu>(0);
  check_reference<all_of_integers<tw::int64>, tw::cpu>(0);
  check_reference<all_of_integers<tw::uint8>, tw::cpu>(0);
  check_reference<all_of_integers<tw::uint16>, tw::cpu>(0);
  check_reference<all_of_integers<tw::uint32>, tw::cpu>(0);
  check_reference<all_of_integers<tw::uint64>, tw::cpu>(0);
}
TEST_CASE("elements of every dtype move, at indices of every dtype of integers") {
  check_reference<moved<tw::int8>, tw::cpu>(0);
  check_reference<moved<tw::int16>, tw::cpu>(0);
  check_reference<moved<tw::int32>, tw::cpu>(0);
  check_reference<moved<tw::int64>, tw::cpu>(0);
  check_reference<moved<tw::uint8>, tw::cpu>(0);
  check_reference<moved<tw::uint16>, tw::cpu>(0);
  check_reference<moved<tw::uint32>, tw::cpu>(0);
  check_reference<moved<tw::uint64>, tw::cpu>(0);
  check_reference<moved<tw::float16>, tw::cpu>(0);
  check_reference<moved<tw::float64>, tw::cpu>(0);
  check_reference<moved<tw::boolean>, tw::cpu>(0);
  check_reference<compared_bools, tw::cpu>(0);
}
TEST_CASE("ops_dtypes.txt and the programs have the same cases") {
  check_same_cases("ops_dtypes.txt",
                   {float_functions<tw::float64>, float_arithmetic<tw::float64>, float_reductions<tw::float64>,
                    float_lines_and_indices<tw::float64>, exact_functions_and_losses, exact_networks, moved<tw::int8>,
                    moved<tw::boolean>, compared_bools, all_of_integers<tw::int8>, all_of_integers<tw::int16>,
                    all_of_integers<tw::int32>, all_of_integers<tw::int64>, all_of_integers<tw::uint8>,
                    all_of_integers<tw::uint16>, all_of_integers<tw::uint32>, all_of_integers<tw::uint64>});
}
