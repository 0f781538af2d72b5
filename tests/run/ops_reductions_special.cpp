// Reductions of ties, zeros, NaN and infinities, of integers and of half precision; indices and counts.
#include "cases_reductions.hpp"
#include "op_checks.hpp"

using namespace op_cases;

TEST_CASE("reductions of ties, zeros, NaN and infinities") { check_reference<ties_and_special_numbers, tw::cpu>(1e-5); }
TEST_CASE("indices, counts and integers are exact") { check_reference<indices, tw::cpu>(0); }
TEST_CASE("reductions of half precision agree with PyTorch") { check_reference<half_reductions, tw::cpu>(1e-3); }
