#pragma once
// The cases of tests/reference/ops_bfloat16.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr TensorSpec bf16(std::initializer_list<std::int64_t> shape) { return {shape, tw::bfloat16}; }

constexpr void bfloat16_arithmetic(Ir& ir) {
  add_cases<Program::arithmetic_in_bfloat16>({ir, tw::bfloat16, {}, "bfloat16_"});
  differentiable(
      ir, "bfloat16_to_float32_and_back", [](Tensor x) { return (x.cast(tw::float32) * 0.3).cast(tw::bfloat16); }, bf16({3, 19}));
}
constexpr void bfloat16_networks(Ir& ir) {
  differentiable(ir, "bfloat16_matmul", [](Tensor a, Tensor b) { return a.matmul(b); }, bf16({5, 37}), bf16({37, 19}));
  add_cases<Program::in_bfloat16>({ir, tw::bfloat16, {}, "bfloat16_"});
  differentiable(ir, "bfloat16_softmax", [](Tensor x) { return ops::softmax(x); }, bf16({3, 37}));
  differentiable(
      ir, "bfloat16_conv", [](Tensor x, Tensor weight) { return ops::conv(x, weight, {.padding = {1, 1, 1, 1}}); },
      bf16({2, 5, 6, 7}), bf16({17, 5, 3, 3}));
}
constexpr void bfloat16_norm(Ir& ir) {
  differentiable(
      ir, "bfloat16_layer_norm", [](Tensor x, Tensor weight, Tensor bias) { return ops::layer_norm(x, weight, bias); },
      bf16({3, 37}), bf16({37}), bf16({37}));
}
constexpr void bfloat16_attention(Ir& ir) {
  const TensorSpec heads = bf16({1, 2, 9, 16});
  differentiable(
      ir, "bfloat16_attention",
      [](Tensor q, Tensor k, Tensor v) { return ops::scaled_dot_product_attention(q, k, v, {.is_causal = true}); }, heads, heads,
      heads);
}

}  // namespace op_cases
