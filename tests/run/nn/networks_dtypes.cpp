// labels: asan rest
#include "../cases/networks.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("networks in other dtypes agree with PyTorch") {
  check_reference<op_cases::networks_in_float64, tw::cpu>(1e-7);
  check_reference<op_cases::networks_in_float16, tw::cpu>(2e-3);
  check_reference<op_cases::other_networks, tw::cpu>(1e-5);
  check_reference<op_cases::products_of_integers, tw::cpu>(0);
}
TEST_CASE("gradients of networks in float64 agree with finite differences") {
  check_finite_differences<op_cases::networks_in_float64, tw::cpu>();
}
