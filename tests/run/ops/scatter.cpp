// labels: asan
// Ops that write or add at indices.
#include "../cases/indexing.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("scatters agree with PyTorch") {
  check_reference<scatters, tw::cpu>(1e-5);
  check_reference<scattered_extremes, tw::cpu>(1e-5);
  check_reference<scattered_ties, tw::cpu>(1e-6);
  check_reference<sparse_accumulations, tw::cpu>(1e-3);  // float16: rounding is up to 2^-11
}
TEST_CASE("gradients of scatters agree with finite differences") {
  check_finite_differences<scatters, tw::cpu>();
  check_finite_differences<scattered_extremes, tw::cpu>();
}
