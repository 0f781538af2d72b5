#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Attention : OpTest {
  static constexpr std::string_view op = "ScaledDotProductAttention";
  static constexpr auto attention(const tw::AttentionOptions& options = {}) {
    return [options](Tensor q, Tensor k, Tensor v) { return ops::scaled_dot_product_attention(q, k, v, options); };
  }
  static constexpr auto masked_attention(const tw::AttentionOptions& options = {}) {
    return [options](Tensor q, Tensor k, Tensor v, Tensor mask) {
      return ops::scaled_dot_product_attention(q, k, v, mask, options);
    };
  }
  /// Attention with dropout, whose last input is the seed; with a mask before it or without.
  static constexpr auto dropped_attention(const tw::AttentionOptions& options) {
    return [options](Tensor q, Tensor k, Tensor v, Tensor seed) {
      tw::AttentionOptions given = options;
      given.seed = seed;
      return ops::scaled_dot_product_attention(q, k, v, given);
    };
  }
  static constexpr auto dropped_masked_attention(const tw::AttentionOptions& options) {
    return [options](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
      tw::AttentionOptions given = options;
      given.seed = seed;
      return ops::scaled_dot_product_attention(q, k, v, mask, given);
    };
  }
  /// Of the parts of one projection (batch, length, 3, heads, width): views, which are not copied.
  static constexpr Tensor attention_of_parts(Tensor x) {
    const auto part = [&](std::int64_t i) { return x[{tw::all, tw::all, i}].transpose({0, 2, 1, 3}); };
    const Tensor y = ops::scaled_dot_product_attention(part(0), part(1), part(2), {.is_causal = true});
    return y.transpose({0, 2, 1, 3}).reshape({x.shape(0), x.shape(1), -1});
  }
  static constexpr auto of_queries_and_keys = [](Tensor q, Tensor k) { return ops::scaled_dot_product_attention(q, k, k); };
  static Tensor with(const auto& s, tw::AttentionOptions options) {
    options.seed = s.tensor({2}, tw::uint32);
    return ops::scaled_dot_product_attention(s.x, s.x, s.x, options);
  }
  static constexpr void compared(In<attentions>, const auto& c) {
    const auto equal = [&](std::string_view name, const TensorSpec& spec, const tw::AttentionOptions& options) {
      c.add(name, attention(options), spec, spec, spec);
    };
    constexpr auto left = tw::CausalAlignment::upper_left, right = tw::CausalAlignment::lower_right;
    const auto of_columns = [](Tensor q, Tensor k, Tensor v) {
      const Shape order{0, 1, 3, 2};
      return ops::scaled_dot_product_attention(q.transpose(order), k.transpose(order), v.transpose(order));
    };
    equal("attention", f32(2, 3, 5, 4), {});
    equal("attention_causal", f32(1, 2, 19, 8), {.is_causal = true});
    equal("attention_one", f32(1, 2, 1, 3), {.is_causal = true});
    c.add("attention_keys", attention(), f32(2, 2, 5, 3), f32(2, 2, 7, 3), f32(2, 2, 7, 3));
    c.add("attention_scale", attention({.scale = 0.25}), f32(1, 2, 6, 5), f32(1, 2, 3, 5), f32(1, 2, 3, 5));
    c.add("attention_groups", attention(), f32(2, 6, 5, 3), f32(2, 2, 4, 3), f32(2, 2, 4, 3));
    c.add("attention_groups_causal", attention({.is_causal = true}), f32(1, 4, 9, 2), f32(1, 1, 9, 2), f32(1, 1, 9, 2));
    equal("attention_wide", f32(1, 1, 3, 261), {.is_causal = true, .scale = 0.03125});
    c.add("attention_views", attention_of_parts, f32(2, 7, 3, 2, 5));
    c.add("attention_mask", masked_attention(), f32(2, 2, 5, 4), f32(2, 2, 7, 4), f32(2, 2, 7, 4), bools(2, 7));
    c.add("attention_mask_causal", masked_attention({.is_causal = true}), f32(2, 1, 19, 8), f32(2, 1, 19, 8), f32(2, 1, 19, 8),
          bools(2, 19));
    c.add("attention_left", attention({.is_causal = true, .alignment = left}), f32(1, 2, 4, 3), f32(1, 2, 7, 3), f32(1, 2, 7, 3));
    c.add("attention_right", attention({.is_causal = true, .alignment = right}), f32(1, 2, 5, 3), f32(1, 1, 9, 3),
          f32(1, 1, 9, 3));
    c.add("attention_right_more_queries", attention({.is_causal = true, .alignment = right}), f32(1, 1, 7, 3), f32(1, 1, 4, 3),
          f32(1, 1, 4, 3));
    c.add("attention_left_window", attention({.is_causal = true, .alignment = left, .window = 3}), f32(1, 1, 9, 3),
          f32(1, 1, 5, 3), f32(1, 1, 5, 3));
    equal("attention_window", f32(1, 2, 19, 5), {.is_causal = true, .window = 4});
    c.add("attention_window_mask", masked_attention({.is_causal = true, .window = 2}), f32(2, 1, 6, 3), f32(2, 1, 6, 3),
          f32(2, 1, 6, 3), bools(2, 6));
    c.add("attention_dropout", dropped_attention({.dropout_p = 0.3}), f32(2, 2, 5, 3), f32(2, 1, 7, 3), f32(2, 1, 7, 3),
          seed_spec);
    c.add("attention_dropout_mask", dropped_masked_attention({.is_causal = true, .dropout_p = 0.5}), f32(2, 1, 9, 3),
          f32(2, 1, 9, 3), f32(2, 1, 9, 3), bools(2, 9), seed_spec);
    c.add("attention_columns", of_columns, f32(1, 2, 5, 6), f32(1, 2, 5, 7), f32(1, 2, 5, 7));
  }
  static constexpr void compared(In<attentions_in_blocks>, const auto& c) {
    constexpr auto right = tw::CausalAlignment::lower_right;
    c.add("attention_blocks", attention(), f32(1, 1, 70, 3), f32(1, 1, 131, 3), f32(1, 1, 131, 3));
    c.add("attention_blocks_causal", attention({.is_causal = true}), f32(1, 2, 70, 5), f32(1, 2, 70, 5), f32(1, 2, 70, 5));
    c.add("attention_mask_blocks", masked_attention(), f32(1, 2, 70, 3), f32(1, 1, 131, 3), f32(1, 1, 131, 3), bools(1, 131));
    c.add("attention_right_blocks", attention({.is_causal = true, .alignment = right}), f32(1, 1, 70, 3), f32(1, 1, 131, 3),
          f32(1, 1, 131, 3));
    c.add("attention_window_blocks", attention({.is_causal = true, .window = 20}), f32(1, 1, 150, 3), f32(1, 1, 150, 3),
          f32(1, 1, 150, 3));
    c.add("attention_right_window_blocks", attention({.is_causal = true, .alignment = right, .window = 70}), f32(1, 1, 70, 3),
          f32(1, 1, 131, 3), f32(1, 1, 131, 3));
    c.add("attention_dropout_blocks", dropped_attention({.is_causal = true, .alignment = right, .window = 90, .dropout_p = 0.2}),
          f32(1, 2, 70, 3), f32(1, 2, 131, 3), f32(1, 2, 131, 3), seed_spec);
  }
  static constexpr void compared(In<attentions_in_half>, const auto& c) {
    c.add("attention_half", attention({.is_causal = true}), f16(1, 2, 19, 16), f16(1, 2, 19, 16), f16(1, 2, 19, 16));
    c.add("attention_half_keys", masked_attention(), f16(2, 4, 5, 6), f16(2, 2, 9, 6), f16(2, 2, 9, 6), bools(2, 9));
    c.add("attention_dropout_half", dropped_attention({.dropout_p = 0.25}), f16(1, 2, 5, 6), f16(1, 2, 20, 6), f16(1, 2, 20, 6),
          seed_spec);
  }
  static constexpr void compared(In<bfloat16_attention>, const auto& c) {
    c.add("bfloat16_attention", attention({.is_causal = true}), c.real({1, 2, 9, 16}), c.real({1, 2, 9, 16}),
          c.real({1, 2, 9, 16}));
  }
  static constexpr void compared(In<second_in_float32>, const auto& c) {
    c.add(
        "attention",
        [](Tensor q, Tensor k, Tensor v) {
          const Tensor mask = q.ir().constant({1, 1, 1, 0, 1, 1, 1, 1}, {2, 4}, tw::boolean);
          return ops::scaled_dot_product_attention(
              q, k, v, mask, {.is_causal = true, .alignment = tw::CausalAlignment::lower_right, .window = 3});
        },
        f32(2, 4, 3, 2), f32(2, 2, 4, 2), f32(2, 2, 4, 2));
  }
  static constexpr void edges(const auto& c) {
    c.add("attention", attention({}), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}));
    c.add("attention_causal", attention({.is_causal = true}), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}));
    c.add("attention_masked", masked_attention(), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}), c.real({1, 1, 4, 2}), bools(1, 4));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 4, 5, 6), of_queries_and_keys, f32(2, 4, 5, 6), f32(2, 4, 7, 6));
    s.result(f32(2, 4, 5, 6), of_queries_and_keys, f32(2, 4, 5, 6), f32(2, 2, 7, 6));  // heads in groups
    s.error(
        "ScaledDotProductAttention: queries (2, 4, 5, 6) float32 and keys (3, 4, 7, 6) float32: the same batch and width "
        "expected, "
        "in graph",
        of_queries_and_keys, f32(2, 4, 5, 6), f32(3, 4, 7, 6));
  }
  static void numbers(auto& list) {
    list.real("AttentionOptions.scale", list.as_float32, [](auto& s, auto n) { return with(s, {.scale = n}); });
    list.whole("AttentionOptions.window", list.whole_not_negative,
               [](auto& s, auto n) { return with(s, {.is_causal = true, .window = n}); });
    list.real("AttentionOptions.dropout_p", list.probability, [](auto& s, auto n) { return with(s, {.dropout_p = n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("scaled_dot_product_attention", [] { (void)ops::scaled_dot_product_attention(Tensor(), Tensor(), Tensor()); });
    list.add("scaled_dot_product_attention",
             [] { (void)ops::scaled_dot_product_attention(Tensor(), Tensor(), Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
