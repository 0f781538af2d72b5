// labels: asan strict systems
// Reductions of which tiles have parts.
#include "../cases/op_checks.hpp"
#include "../cases/reductions.hpp"

TEST_CASE("reductions on the IPU model agree with PyTorch") {
  check_reference<op_cases::reductions_in_tiles, tw::ipu_model>(1e-5);
}
TEST_CASE("reductions of which blocks have parts agree with PyTorch") {
  check_reference<op_cases::reductions_in_parts, tw::ipu_model>(1e-5);
  check_reference<op_cases::other_reductions_in_parts, tw::ipu_model>(1e-3);
  check_reference<op_cases::integers_in_parts, tw::ipu_model>(0);
}
TEST_CASE("losses of which blocks have parts agree with PyTorch") {
  check_reference<op_cases::losses_in_parts, tw::ipu_model>(1e-5);
}
TEST_CASE("reductions and losses of long lines on the host agree with PyTorch") {
  check_reference<op_cases::reductions_in_parts, tw::cpu>(1e-5);
  check_reference<op_cases::losses_in_parts, tw::cpu>(1e-5);
}
TEST_CASE("reductions on three tiles agree with PyTorch") {
  check_reference<op_cases::reductions_in_tiles, tw::cpu.with_tiles(3)>(1e-5);
}
