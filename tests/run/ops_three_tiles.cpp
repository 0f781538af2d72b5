#include "op_checks.hpp"

TEST_CASE("every op on three tiles agrees with PyTorch") { check_reference<tw::cpu.with_tiles(3)>(); }
