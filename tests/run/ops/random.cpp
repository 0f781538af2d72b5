// labels: asan strict
// Random ops, to the bit: the reference is computed in exact fractions.
#include "../cases/random.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("random numbers are those of the reference, to the bit") {
  check_reference<op_cases::random_numbers, tw::cpu>(0);
  check_reference<op_cases::random_numbers, tw::cpu.with_tiles(3)>(0);
}
TEST_CASE("dropout and its gradient are those of the reference, to the bit") {
  check_reference<op_cases::dropouts, tw::cpu>(0);
  check_reference<op_cases::dropouts, tw::ipu_model>(0);
}
TEST_CASE("dropout of half precision, and seeds of seeds, are those of the reference, to the bit") {
  check_reference<op_cases::other_dropouts_and_seeds, tw::cpu>(0);
}
TEST_CASE("gradients of dropout agree with finite differences") { check_finite_differences<op_cases::dropouts, tw::cpu>(); }

TEST_CASE("cases_random.hpp and make_random.py have the same cases, of the same tensors") {
  check_same_cases("ops_random.txt", {op_cases::random_numbers, op_cases::dropouts, op_cases::other_dropouts_and_seeds});
}
