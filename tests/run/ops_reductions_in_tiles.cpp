// Reductions of which tiles have parts.
#include "cases_reductions.hpp"
#include "op_checks.hpp"

TEST_CASE("reductions on the IPU model agree with PyTorch") {
  check_reference<op_cases::reductions_in_tiles, tw::ipu_model>(1e-5);
}
TEST_CASE("reductions on three tiles agree with PyTorch") {
  check_reference<op_cases::reductions_in_tiles, tw::cpu.with_tiles(3)>(1e-5);
}
