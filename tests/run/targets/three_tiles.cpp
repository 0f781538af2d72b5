// labels: asan strict
#include "../cases/ops_checks.hpp"

TEST_CASE("functions on three tiles agree with PyTorch") { check_functions<tw::cpu.with_tiles(3)>(); }
