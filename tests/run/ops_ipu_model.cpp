// labels: asan more strict
#include "op_cases_checks.hpp"

TEST_CASE("layers, updates and other dtypes on the IPU model agree with PyTorch") { check_layers<tw::ipu_model>(); }
