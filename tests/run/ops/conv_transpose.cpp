// labels: asan more
#include "../cases/networks.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("transposed convolutions on the host agree with PyTorch") {
  check_reference<op_cases::transposed_convolutions, tw::cpu>(1e-5);
}
