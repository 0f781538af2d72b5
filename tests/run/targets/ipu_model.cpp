// labels: asan more strict
#include "../cases/ops_checks.hpp"

TEST_CASE("layers, updates and other dtypes on the IPU model agree with PyTorch") { check_layers<tw::ipu_model>(); }
