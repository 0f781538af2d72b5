#include "op_checks.hpp"

TEST_CASE("every op on three tiles agrees with PyTorch") {
  check_reference<op_cases::float32_ops, tw::cpu.with_tiles(3)>(1e-5);
  check_reference<op_cases::other_ops, tw::cpu.with_tiles(3)>(1e-3);
}
