#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/feed_forward.hpp"
#include "tilewright/layers/rms_norm.hpp"
#include "tilewright/layers/rotary.hpp"

namespace tilewright::layers {

/// Options of GroupedQueryAttention. `bias`, `rope_theta` and `std` are `attention_bias`, `rope_theta` and `initializer_range` of
/// Hugging Face's LlamaConfig.
struct GroupedQueryAttentionOptions {
  bool is_causal = true;  ///< whether query i sees only keys 0 to i
  bool bias = false;  ///< whether all four projections have a bias
  double rope_theta = 10000;  ///< base of the angles of positions, see rotary_embedding
  double std = 0.02;  ///< standard deviation of the initial weights; biases are zero
};

/// Attention with rotary positions, in which num_heads query heads share num_key_value_heads heads of keys and values ("GQA",
/// arXiv 2305.13245): Hugging Face's LlamaAttention. build(x) counts positions from 0; build(x, positions) takes them, (length,)
/// integers. x: (batch, length, width), float16, bfloat16 or float32. The result has x's shape and dtype. num_heads divides
/// width, and num_key_value_heads divides num_heads.
///
/// Variables: `q_proj.weight` (width, width), `k_proj.weight` and `v_proj.weight` (width, num_key_value_heads head_dim),
/// `o_proj.weight` (width, width), and biases if `bias` is true. Names are those of Hugging Face's LlamaAttention, which stores
/// the weights transposed. Initial values: weights are normal with mean 0 and the standard deviation `std`; biases are zero.
template <int width, int num_heads, int num_key_value_heads, GroupedQueryAttentionOptions options = {}>
struct GroupedQueryAttention : Module<GroupedQueryAttention<width, num_heads, num_key_value_heads, options>> {
  static constexpr int head_dim = num_heads > 0 ? width / num_heads : 0;
  static constexpr bool shares_heads = num_key_value_heads > 0 && num_key_value_heads <= num_heads;  // else `build` fails
  static constexpr int key_width = shares_heads ? num_key_value_heads * head_dim : 0;
  using Wide = Linear<width, {.bias = options.bias, .std = options.std}>;
  using Narrow = Linear<key_width, {.bias = options.bias, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(GroupedQueryAttention, (Wide, q_proj), (Narrow, k_proj), (Narrow, v_proj), (Wide, o_proj));

  constexpr Tensor build(Tensor x) {
    return build(x, x.ir().constant(range(), {x.rank() == 3 ? x.shape(1) : 1}, int32, "positions"));
  }
  constexpr Tensor build(Tensor x, Tensor positions) {
    if (x.rank() != 3)
      return x.ir().fail(text("GroupedQueryAttention: ", to_text(x.spec()), ": axes (batch, length, width) expected"));
    if (!detail::check_heads(x.ir(), "GroupedQueryAttention", "num_heads", num_heads, width) ||
        !detail::check_heads(x.ir(), "GroupedQueryAttention", "num_key_value_heads", num_key_value_heads, num_heads))
      return Tensor::invalid(x.ir());
    const RotaryEmbedding rotary = rotary_embedding(positions, head_dim, options.rope_theta);
    const Tensor q = apply_rotary(split_heads(q_proj(x), num_heads), rotary);
    const Tensor k = apply_rotary(split_heads(k_proj(x), num_key_value_heads), rotary);
    return o_proj(merge_heads(attend(q, k, split_heads(v_proj(x), num_key_value_heads), {.is_causal = options.is_causal})));
  }
};

/// Options of LlamaBlock. `rms_norm_eps` is that of Hugging Face's LlamaConfig.
struct LlamaBlockOptions {
  double rms_norm_eps = 1e-6;  ///< added to the mean of squares in both norms
  GroupedQueryAttentionOptions attention = {};  ///< options of `self_attn`
  SwigluFeedForwardOptions mlp = {};  ///< options of `mlp`
};

/// Decoder layer of Llama ("LLaMA", arXiv 2302.13971): adds self_attn(input_layernorm(x)) to x, then adds
/// mlp(post_attention_layernorm(y)) to that sum y. build(x) counts positions from 0; build(x, positions) takes them. x: (batch,
/// length, width), float16, bfloat16 or float32. The result has x's shape and dtype.
///
/// Variables: `input_layernorm.weight` and `post_attention_layernorm.weight` (width,), ones; those of GroupedQueryAttention under
/// `self_attn`; those of SwigluFeedForward under `mlp`. Names, initial values and defaults are those of Hugging Face's
/// LlamaDecoderLayer.
template <int width, int hidden, int num_heads, int num_key_value_heads, LlamaBlockOptions options = {}>
struct LlamaBlock : Module<LlamaBlock<width, hidden, num_heads, num_key_value_heads, options>> {
  using Norm = RMSNorm<{.eps = options.rms_norm_eps}>;
  using Attention = GroupedQueryAttention<width, num_heads, num_key_value_heads, options.attention>;
  using Mlp = SwigluFeedForward<width, hidden, options.mlp>;
  BOOST_HANA_DEFINE_STRUCT(LlamaBlock, (Norm, input_layernorm), (Attention, self_attn), (Norm, post_attention_layernorm),
                           (Mlp, mlp));

  constexpr Tensor build(Tensor x, std::same_as<Tensor> auto... positions) {
    x = x + self_attn(input_layernorm(x), positions...);
    return x + mlp(post_attention_layernorm(x));
  }
};

}  // namespace tilewright::layers
