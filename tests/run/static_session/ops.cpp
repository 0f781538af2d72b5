// labels: more
// The cases of ops, in one object: the bits of a session.
#include "../cases/ops.hpp"

#include "../../support/both_sessions.hpp"
#include "../cases/attention.hpp"
#include "../cases/random.hpp"
#include "../cases/slices.hpp"

namespace {

/// Runs a program of cases on random variables. Integers are 1, so that they are indices and divisors.
template <auto build>
void run_cases() {
  support::BothSessions<build> both(1, 2);
  both.draw_variables();
  both.run(2);
}

}  // namespace

TEST_CASE("products, arithmetic, functions and reductions in one object have a session's bits") {
  run_cases<op_cases::matrices_and_arithmetic>();
  run_cases<op_cases::functions_and_reductions>();
}
TEST_CASE("losses, norms and optimisers in one object have a session's bits") {
  run_cases<op_cases::softmax_and_losses>();
  run_cases<op_cases::normalisation>();
  run_cases<op_cases::optimisers>();
}
TEST_CASE("convolutions and attention in one object have a session's bits") {
  run_cases<op_cases::convolutions>();
  run_cases<op_cases::attentions>();
}
TEST_CASE("integers, half precision and casts in one object have a session's bits") {
  run_cases<op_cases::half_precision>();
  run_cases<op_cases::integers_and_casts>();
}
TEST_CASE("random numbers, dropout and slices in one object have a session's bits") {
  run_cases<op_cases::random_numbers>();
  run_cases<op_cases::dropouts>();
  run_cases<op_cases::all_slices>();
}
