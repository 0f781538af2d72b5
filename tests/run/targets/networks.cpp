// labels: more strict
#include "../cases/networks.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("networks on the IPU model and on three tiles agree with PyTorch") {
  check_reference<op_cases::networks_in_tiles, tw::ipu_model>(1e-5);
  check_reference<op_cases::networks_in_tiles, tw::cpu.with_tiles(3)>(1e-5);
}
