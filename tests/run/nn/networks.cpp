// labels: asan
#include "../cases/networks.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("the cases of networks are those of the reference") {
  using namespace op_cases;
  check_same_cases("ops_networks.txt", {transposed_convolutions, normalisation_of_batches, images, pools_with_gaps,
                                        networks_in_float64, networks_in_float16, other_networks, products_of_integers});
}
TEST_CASE("normalisation of batches, resizing, regions and pools with gaps on the host agree with PyTorch") {
  check_reference<op_cases::normalisation_of_batches, tw::cpu>(1e-5);
  check_reference<op_cases::images, tw::cpu>(1e-5);
  check_reference<op_cases::pools_with_gaps, tw::cpu>(1e-5);
}
