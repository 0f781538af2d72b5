#pragma once
// The cases of tests/reference/ops_attention.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void attentions(Ir& ir) { add_cases<Program::attentions>({ir}); }
/// More than one block of queries and of keys.
constexpr void attentions_in_blocks(Ir& ir) { add_cases<Program::attentions_in_blocks>({ir}); }
/// Half precision in memory, float32 within.
constexpr void attentions_in_half(Ir& ir) { add_cases<Program::attentions_in_half>({ir}); }

}  // namespace op_cases
