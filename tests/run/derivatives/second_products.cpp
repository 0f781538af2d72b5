// labels: more
// First derivatives in both modes, and second ones, of shape and indexed ops, products, matrices and pools, against PyTorch and
// differences of the first ones.
#include "../cases/op_checks.hpp"
#include "../cases/second.hpp"

using namespace op_cases;

TEST_CASE("first and second derivatives of shape and indexed ops, products and pools agree with PyTorch and with differences") {
  check_reference<second_of_shapes, tw::cpu>(1e-9);
  check_modes<second_of_shapes, tw::cpu>(1e-10);
  check_finite_differences<second_of_shapes, tw::cpu>(1e-6);
  check_reference<second_of_products, tw::cpu>(1e-9);
  check_modes<second_of_products, tw::cpu>(1e-10);
  check_finite_differences<second_of_products, tw::cpu>(1e-6);
  check_reference<second_of_matrices, tw::cpu>(1e-9);
  check_modes<second_of_matrices, tw::cpu>(1e-10);
  check_finite_differences<second_of_matrices, tw::cpu>(1e-6);
  check_reference<second_of_pools, tw::cpu>(1e-9);
  check_modes<second_of_pools, tw::cpu>(1e-10);
  check_finite_differences<second_of_pools, tw::cpu>(1e-6);
}
