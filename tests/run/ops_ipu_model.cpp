#include "op_checks.hpp"

TEST_CASE("every op on the IPU model agrees with PyTorch") { check_reference<tw::ipu_model>(); }
