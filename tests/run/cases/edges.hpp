#pragma once
// The cases of tests/reference/ops_edges.txt: losses, norms, gradients of functions and reductions at the edges of their dtypes.
#include "of_ops.hpp"

namespace op_cases {

/// The programs of one dtype, whose cases' names begin with it.
template <tw::DType dtype, Program... programs>
constexpr void of_edges(Ir& ir, std::string_view prefix) {
  (add_cases<programs>({ir, dtype, {16}, prefix}), ...);
}
constexpr void float32_at_edges(Ir& ir) {
  using enum Program;
  of_edges<tw::float32, losses_at_edges, at_edges_of_float32, at_edges_of_exponents>(ir, "f32_");
}
constexpr void float16_at_edges(Ir& ir) {
  using enum Program;
  of_edges<tw::float16, losses_at_edges, Program::at_edges, at_edges_of_float16, at_edges_of_exponents,
           Program::float16_at_edges>(ir, "f16_");
}
constexpr void bfloat16_at_edges(Ir& ir) {
  using enum Program;
  of_edges<tw::bfloat16, losses_at_edges, Program::at_edges, Program::bfloat16_at_edges>(ir, "bf16_");
}

}  // namespace op_cases
