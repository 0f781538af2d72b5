#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/feed_forward.hpp"
#include "tilewright/layers/rms_norm.hpp"
#include "tilewright/layers/rotary.hpp"

namespace tilewright::layers {

/// Options of GroupedQueryAttention. `bias`, `rope_theta` and `std` are `attention_bias`, `rope_theta` and `initializer_range` of
/// Hugging Face's LlamaConfig; `sliding_window` is that of its MistralConfig.
struct GroupedQueryAttentionOptions {
  Flag is_causal = true;  ///< whether query i sees only keys 0 to i
  Flag bias = false;  ///< whether all four projections have a bias
  double rope_theta = 10000;  ///< base of the angles of positions, see rotary_embedding
  double std = 0.02;  ///< standard deviation of the initial weights; biases are zero
  int sliding_window = 0;  ///< with is_causal: `sliding_window` of KvCacheOptions
  int cache_length = 0;  ///< `length` of KvCacheOptions; 0: no cache
};

/// Attention with rotary positions, in which num_heads query heads share num_key_value_heads heads of keys and values ("GQA",
/// arXiv 2305.13245): Hugging Face's LlamaAttention. build(x) counts positions from 0; build(x, positions) takes them, (length,)
/// or (batch, length) integers. x: (batch, length, width), float16, bfloat16 or float32. The result has x's shape and dtype.
/// num_heads divides width, and num_key_value_heads divides num_heads.
///
/// With a `cache_length`, the layer keeps keys and values as KvCache does. build(x, position) then takes the position of the last
/// token of each text, (1,) or (batch,) signed integers. x is one token at this position, or a prompt from position 0 on;
/// build(x) is a prompt without padding. Rotary positions count from the beginning of the text, also behind a sliding window.
///
/// Variables: `q_proj.weight` (width, width), `k_proj.weight` and `v_proj.weight` (width, num_key_value_heads head_dim),
/// `o_proj.weight` (width, width), and biases if `bias` is true. Names are those of Hugging Face's LlamaAttention, which stores
/// the weights transposed. Initial values: weights are normal with mean 0 and the standard deviation `std`; biases are zero. With
/// a cache: `cache.keys` and `cache.values`, (batch, num_key_value_heads, slots, head_dim), see KvCache.
template <int width, int num_heads, int num_key_value_heads, GroupedQueryAttentionOptions options = {}>
struct GroupedQueryAttention : Module<GroupedQueryAttention<width, num_heads, num_key_value_heads, options>> {
  static constexpr int head_dim = num_heads > 0 ? width / num_heads : 0;
  static constexpr bool shares_heads = num_key_value_heads > 0 && num_key_value_heads <= num_heads;  // else `build` fails
  static constexpr int key_width = shares_heads ? num_key_value_heads * head_dim : 0;
  using Wide = Linear<width, {.bias = options.bias, .std = options.std}>;
  using Narrow = Linear<key_width, {.bias = options.bias, .std = options.std}>;
  static constexpr KvCacheOptions cache_options{.length = options.cache_length, .sliding_window = options.sliding_window};
  using Cache = detail::CacheMember<cache_options>;
  BOOST_HANA_DEFINE_STRUCT(GroupedQueryAttention, (Wide, q_proj), (Narrow, k_proj), (Narrow, v_proj), (Wide, o_proj),
                           (Cache, cache));
  static constexpr bool has_cache = options.cache_length > 0;

  constexpr Tensor build(Tensor x) { return validate(x) ? mix(x, counted(x)) : Tensor::invalid(x.ir()); }
  constexpr Tensor build(Tensor x, Tensor positions) {
    if (!validate(x)) return Tensor::invalid(x.ir());
    if constexpr (!has_cache) return mix(x, positions);
    else if (!detail::check_position(x.ir(), "GroupedQueryAttention", positions, x.shape(0))) return Tensor::invalid(x.ir());
    else if (x.shape(1) > 1) return mix(x, counted(x), positions);
    else return mix(x, positions.nelms() == 1 ? positions : positions.reshape({-1, 1}), positions);
  }

 private:
  static constexpr bool validate(Tensor x) {
    if (x.rank() == 3)
      return detail::check_heads(x.ir(), "GroupedQueryAttention", "num_heads", num_heads, width) &&
             detail::check_heads(x.ir(), "GroupedQueryAttention", "num_key_value_heads", num_key_value_heads, num_heads) &&
             detail::check_cache(x.ir(), "GroupedQueryAttention", cache_options, options.is_causal);
    x.ir().fail(text("GroupedQueryAttention: ", to_text(x.spec()), ": axes (batch, length, width) expected"));
    return false;
  }
  /// Returns positions from 0 on.
  static constexpr Tensor counted(Tensor x) { return x.ir().constant(range(), {x.shape(1)}, int32, "positions"); }
  /// `last`: with a cache, the position of the last token of each text, if it is given.
  constexpr Tensor mix(Tensor x, Tensor positions, std::same_as<Tensor> auto... last) {
    const RotaryEmbedding rotary = rotary_embedding(positions, head_dim, options.rope_theta);
    const Tensor q = apply_rotary(split_heads(q_proj(x), num_heads), rotary);
    const Tensor k = apply_rotary(split_heads(k_proj(x), num_key_value_heads), rotary);
    const Tensor v = split_heads(v_proj(x), num_key_value_heads);
    if constexpr (has_cache) return o_proj(merge_heads(cache(q, k, v, last...)));
    else return o_proj(merge_heads(attend(q, k, v, {.is_causal = options.is_causal, .window = options.sliding_window})));
  }
};

/// Options of LlamaBlock. `rms_norm_eps` is that of Hugging Face's LlamaConfig.
struct LlamaBlockOptions {
  double rms_norm_eps = 1e-6;  ///< added to the mean of squares in both norms
  GroupedQueryAttentionOptions attention = {};  ///< options of `self_attn`
  SwigluFeedForwardOptions mlp = {};  ///< options of `mlp`
};

/// Decoder layer of Llama ("LLaMA", arXiv 2302.13971): adds self_attn(input_layernorm(x)) to x, then adds
/// mlp(post_attention_layernorm(y)) to that sum y. build(x) counts positions from 0; build(x, positions) takes them. With
/// `.attention = {.cache_length = 1024}`, build(x, position) is that of GroupedQueryAttention with a cache. x: (batch, length,
/// width), float16, bfloat16 or float32. The result has x's shape and dtype.
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
