// labels: more strict
// Attention of half precision, on the host and on the IPU model.
#include "../cases/attention.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("attention in half precision is computed in float32") {
  // Results are rounded once, by 2^-11 of a number below 4 at most.
  check_reference<op_cases::attentions_in_half, tw::cpu>(0.002);
  check_reference<op_cases::attentions_in_half, tw::ipu_model>(0.002);
}
