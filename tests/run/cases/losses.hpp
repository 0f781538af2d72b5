#pragma once
// The cases of tests/reference/ops_losses.txt: losses by PyTorch's names.
#include "of_ops.hpp"

namespace op_cases {

constexpr void losses_in_float32(Ir& ir) {
  add_cases<Program::smooth_losses>({ir, tw::float32, {}, "loss_f32_"});
  add_cases<Program::losses_with_kinks>({ir, tw::float32, {}, "loss_f32_"});
}
constexpr void losses_in_float16(Ir& ir) {
  add_cases<Program::smooth_losses>({ir, tw::float16, {}, "loss_f16_"});
  add_cases<Program::losses_with_kinks>({ir, tw::float16, {}, "loss_f16_"});
}
constexpr void smooth_losses_in_bfloat16(Ir& ir) { add_cases<Program::smooth_losses>({ir, tw::bfloat16, {}, "loss_bf16_"}); }
constexpr void smooth_losses_in_float64(Ir& ir) { add_cases<Program::smooth_losses>({ir, tw::float64, {}, "loss_f64_"}); }
/// With differences at the kinks, and of 0.
constexpr void losses_with_kinks_in_float64(Ir& ir) { add_cases<Program::losses_with_kinks>({ir, tw::float64, {}, "loss_f64_"}); }
/// Large logits, equal elements, zeros, and weights of 0.
constexpr void edges_of_losses_in_float32(Ir& ir) {
  add_cases<Program::losses_at_their_edges>({ir, tw::float32, {}, "loss_f32_edge_"});
}
constexpr void edges_of_losses_in_float16(Ir& ir) {
  add_cases<Program::losses_at_their_edges>({ir, tw::float16, {}, "loss_f16_edge_"});
}
/// Of many rows, which are cut into parts.
constexpr void losses_of_many_rows(Ir& ir) { add_cases<Program::losses_of_many_rows>({ir, tw::float32, {}, "loss_parts_"}); }

}  // namespace op_cases
