// labels: more
// Single ops in bfloat16 against PyTorch, in float64.
#include "../cases/dtypes.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("bfloat16: functions, arithmetic, lines and indices agree with PyTorch in float64") {
  check_reference<float_functions<tw::bfloat16>, tw::cpu>(8e-3);   // 8 times the bounds of float16: it has 3 bits more
  check_reference<float_arithmetic<tw::bfloat16>, tw::cpu>(16e-3);
  check_reference<float_lines_and_indices<tw::bfloat16>, tw::cpu>(8e-3);
}
