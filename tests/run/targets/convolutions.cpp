// labels: more strict
#include "../cases/ops_checks.hpp"

TEST_CASE("convolutions and pools on the IPU model agree with PyTorch") {
  check_reference<op_cases::convolutions, tw::ipu_model>(1e-5);
}
