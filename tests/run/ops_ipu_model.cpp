#include "op_checks.hpp"

TEST_CASE("every op on the IPU model agrees with PyTorch") {
  check_reference<op_cases::float32_ops, tw::ipu_model>(1e-5);
  check_reference<op_cases::other_ops, tw::ipu_model>(1e-3);
}
