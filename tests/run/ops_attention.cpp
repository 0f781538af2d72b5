#include "cases_attention.hpp"
#include "op_checks.hpp"

TEST_CASE("the cases of attention are those of the reference") {
  check_same_cases("ops_attention.txt", {op_cases::attentions, op_cases::attentions_in_blocks});
}
TEST_CASE("attention on the host agrees with PyTorch and with finite differences") {
  check_reference<op_cases::attentions, tw::cpu>(2e-6);
  check_reference<op_cases::attentions_in_blocks, tw::cpu>(2e-6);
  check_finite_differences<op_cases::attentions, tw::cpu>();
}
TEST_CASE("attention on the IPU model and on three tiles agrees with PyTorch") {
  check_reference<op_cases::attentions, tw::ipu_model>(2e-6);
  check_reference<op_cases::attentions_in_blocks, tw::cpu.with_tiles(3)>(2e-6);
}
