// labels: asan more
#include "cases_networks.hpp"
#include "op_checks.hpp"

TEST_CASE("transposed convolutions on the host agree with PyTorch") {
  check_reference<op_cases::transposed_convolutions, tw::cpu>(1e-5);
}
