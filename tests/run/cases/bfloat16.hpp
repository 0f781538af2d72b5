#pragma once
// The cases of tests/reference/ops_bfloat16.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void bfloat16_arithmetic(Ir& ir) { add_cases<Program::arithmetic_in_bfloat16>({ir, tw::bfloat16, {}, "bfloat16_"}); }
constexpr void bfloat16_networks(Ir& ir) { add_cases<Program::in_bfloat16>({ir, tw::bfloat16, {}, "bfloat16_"}); }
constexpr void bfloat16_norm(Ir& ir) { add_cases<Program::bfloat16_norm>({ir, tw::bfloat16}); }
constexpr void bfloat16_attention(Ir& ir) { add_cases<Program::bfloat16_attention>({ir, tw::bfloat16}); }

}  // namespace op_cases
