#pragma once
// The cases of tests/reference/ops_attention.txt.
#include "op_case.hpp"

namespace op_cases {

constexpr auto attention(const tw::AttentionOptions& options = {}) {
  return [options](Tensor q, Tensor k, Tensor v) { return ops::scaled_dot_product_attention(q, k, v, options); };
}
constexpr auto masked_attention(const tw::AttentionOptions& options = {}) {
  return
      [options](Tensor q, Tensor k, Tensor v, Tensor mask) { return ops::scaled_dot_product_attention(q, k, v, mask, options); };
}
/// Attention with dropout, whose last input is the seed; with a mask before it or without.
constexpr auto dropped_attention(const tw::AttentionOptions& options) {
  return [options](Tensor q, Tensor k, Tensor v, Tensor seed) {
    tw::AttentionOptions given = options;
    given.seed = seed;
    return ops::scaled_dot_product_attention(q, k, v, given);
  };
}
constexpr auto dropped_masked_attention(const tw::AttentionOptions& options) {
  return [options](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
    tw::AttentionOptions given = options;
    given.seed = seed;
    return ops::scaled_dot_product_attention(q, k, v, mask, given);
  };
}
constexpr TensorSpec attention_seed{{2}, tw::uint32};
/// Of the parts of one projection (batch, length, 3, heads, width): views, which are not copied.
constexpr Tensor attention_of_parts(Tensor x) {
  const auto part = [&](std::int64_t i) { return x[{tw::all, tw::all, i}].transpose({0, 2, 1, 3}); };
  const Tensor y = ops::scaled_dot_product_attention(part(0), part(1), part(2), {.is_causal = true});
  return y.transpose({0, 2, 1, 3}).reshape({x.shape(0), x.shape(1), -1});
}

constexpr void attentions(Ir& ir) {
  const auto equal = [&](std::string_view name, const TensorSpec& spec, const tw::AttentionOptions& options) {
    differentiable(ir, name, attention(options), spec, spec, spec);
  };
  equal("attention", f32({2, 3, 5, 4}), {});
  equal("attention_causal", f32({1, 2, 19, 8}), {.is_causal = true});
  equal("attention_one", f32({1, 2, 1, 3}), {.is_causal = true});
  differentiable(ir, "attention_keys", attention(), f32({2, 2, 5, 3}), f32({2, 2, 7, 3}), f32({2, 2, 7, 3}));
  differentiable(ir, "attention_scale", attention({.scale = 0.25}), f32({1, 2, 6, 5}), f32({1, 2, 3, 5}), f32({1, 2, 3, 5}));
  differentiable(ir, "attention_groups", attention(), f32({2, 6, 5, 3}), f32({2, 2, 4, 3}), f32({2, 2, 4, 3}));
  differentiable(ir, "attention_groups_causal", attention({.is_causal = true}), f32({1, 4, 9, 2}), f32({1, 1, 9, 2}),
                 f32({1, 1, 9, 2}));
  equal("attention_wide", f32({1, 1, 3, 261}), {.is_causal = true, .scale = 0.03125});
  differentiable(ir, "attention_views", attention_of_parts, f32({2, 7, 3, 2, 5}));
  differentiable(ir, "attention_mask", masked_attention(), f32({2, 2, 5, 4}), f32({2, 2, 7, 4}), f32({2, 2, 7, 4}),
                 bools({2, 7}));
  differentiable(ir, "attention_mask_causal", masked_attention({.is_causal = true}), f32({2, 1, 19, 8}), f32({2, 1, 19, 8}),
                 f32({2, 1, 19, 8}), bools({2, 19}));
  constexpr auto left = tw::CausalAlignment::upper_left, right = tw::CausalAlignment::lower_right;
  differentiable(ir, "attention_left", attention({.is_causal = true, .alignment = left}), f32({1, 2, 4, 3}), f32({1, 2, 7, 3}),
                 f32({1, 2, 7, 3}));
  differentiable(ir, "attention_right", attention({.is_causal = true, .alignment = right}), f32({1, 2, 5, 3}), f32({1, 1, 9, 3}),
                 f32({1, 1, 9, 3}));
  differentiable(ir, "attention_right_more_queries", attention({.is_causal = true, .alignment = right}), f32({1, 1, 7, 3}),
                 f32({1, 1, 4, 3}), f32({1, 1, 4, 3}));
  differentiable(ir, "attention_left_window", attention({.is_causal = true, .alignment = left, .window = 3}), f32({1, 1, 9, 3}),
                 f32({1, 1, 5, 3}), f32({1, 1, 5, 3}));
  equal("attention_window", f32({1, 2, 19, 5}), {.is_causal = true, .window = 4});
  differentiable(ir, "attention_window_mask", masked_attention({.is_causal = true, .window = 2}), f32({2, 1, 6, 3}),
                 f32({2, 1, 6, 3}), f32({2, 1, 6, 3}), bools({2, 6}));
  differentiable(ir, "attention_dropout", dropped_attention({.dropout_p = 0.3}), f32({2, 2, 5, 3}), f32({2, 1, 7, 3}),
                 f32({2, 1, 7, 3}), attention_seed);
  differentiable(ir, "attention_dropout_mask", dropped_masked_attention({.is_causal = true, .dropout_p = 0.5}), f32({2, 1, 9, 3}),
                 f32({2, 1, 9, 3}), f32({2, 1, 9, 3}), bools({2, 9}), attention_seed);
  const auto of_columns = [](Tensor q, Tensor k, Tensor v) {
    const Shape order{0, 1, 3, 2};
    return ops::scaled_dot_product_attention(q.transpose(order), k.transpose(order), v.transpose(order));
  };
  differentiable(ir, "attention_columns", of_columns, f32({1, 2, 5, 6}), f32({1, 2, 5, 7}), f32({1, 2, 5, 7}));
}
/// More than one block of queries and of keys.
constexpr void attentions_in_blocks(Ir& ir) {
  differentiable(ir, "attention_blocks", attention(), f32({1, 1, 70, 3}), f32({1, 1, 131, 3}), f32({1, 1, 131, 3}));
  differentiable(ir, "attention_blocks_causal", attention({.is_causal = true}), f32({1, 2, 70, 5}), f32({1, 2, 70, 5}),
                 f32({1, 2, 70, 5}));
  differentiable(ir, "attention_mask_blocks", masked_attention(), f32({1, 2, 70, 3}), f32({1, 1, 131, 3}), f32({1, 1, 131, 3}),
                 bools({1, 131}));
  constexpr auto right = tw::CausalAlignment::lower_right;
  differentiable(ir, "attention_right_blocks", attention({.is_causal = true, .alignment = right}), f32({1, 1, 70, 3}),
                 f32({1, 1, 131, 3}), f32({1, 1, 131, 3}));
  differentiable(ir, "attention_window_blocks", attention({.is_causal = true, .window = 20}), f32({1, 1, 150, 3}),
                 f32({1, 1, 150, 3}), f32({1, 1, 150, 3}));
  differentiable(ir, "attention_right_window_blocks", attention({.is_causal = true, .alignment = right, .window = 70}),
                 f32({1, 1, 70, 3}), f32({1, 1, 131, 3}), f32({1, 1, 131, 3}));
  differentiable(ir, "attention_dropout_blocks",
                 dropped_attention({.is_causal = true, .alignment = right, .window = 90, .dropout_p = 0.2}), f32({1, 2, 70, 3}),
                 f32({1, 2, 131, 3}), f32({1, 2, 131, 3}), attention_seed);
}
/// Half precision in memory, float32 within.
constexpr void attentions_in_half(Ir& ir) {
  differentiable(ir, "attention_half", attention({.is_causal = true}), f16({1, 2, 19, 16}), f16({1, 2, 19, 16}),
                 f16({1, 2, 19, 16}));
  differentiable(ir, "attention_half_keys", masked_attention(), f16({2, 4, 5, 6}), f16({2, 2, 9, 6}), f16({2, 2, 9, 6}),
                 bools({2, 9}));
  differentiable(ir, "attention_dropout_half", dropped_attention({.dropout_p = 0.25}), f16({1, 2, 5, 6}), f16({1, 2, 20, 6}),
                 f16({1, 2, 20, 6}), attention_seed);
}

}  // namespace op_cases
