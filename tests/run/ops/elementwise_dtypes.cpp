// labels: asan rest
// Elementwise ops of integers, half and double precision.
#include "../cases/elementwise.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("elementwise ops of integers are as in NumPy") {
  check_reference<op_cases::signed_integers, tw::cpu>(0);
  check_reference<op_cases::unsigned_integers, tw::cpu>(0);
}

TEST_CASE("elementwise ops in half and double precision agree with PyTorch") {
  check_reference<op_cases::halves, tw::cpu>(5e-3);  // values of up to 8 between ops are rounded, each by up to 8 / 2^11
  check_reference<op_cases::doubles, tw::cpu>(1e-7);  // the text has 8 digits
  check_reference<op_cases::doubles_without_steps, tw::cpu>(1e-7);
  check_finite_differences<op_cases::doubles, tw::cpu>();
}

TEST_CASE("the elementwise cases are those of the reference") {
  check_same_cases("ops_elementwise.txt",
                   {op_cases::functions, op_cases::powers, op_cases::choices, op_cases::in_place, op_cases::without_steps,
                    op_cases::predicates, op_cases::signed_integers, op_cases::unsigned_integers, op_cases::halves,
                    op_cases::doubles, op_cases::doubles_without_steps});
}
