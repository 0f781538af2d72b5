#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/feed_forward.hpp"
#include "tilewright/layers/layer_norm.hpp"

namespace tilewright::layers {

/// Options of TransformerBlock. Names and defaults are those of torch.nn.TransformerEncoderLayer, except `is_causal`, which
/// PyTorch takes in each call, and `std`, `sliding_window` and `cache_length`, which PyTorch does not have.
struct TransformerBlockOptions {
  int dim_feedforward = 2048;  ///< width between the two linear layers
  Activation activation = Activation::relu;  ///< activation between the two linear layers
  Flag norm_first = false;  ///< whether norms come before attention and linear layers; otherwise they come after the sums
  Flag is_causal = false;  ///< whether query i sees only keys 0 to i
  Flag bias = true;  ///< whether linear layers and norms have a bias
  double layer_norm_eps = 1e-5;  ///< added to the variance in both norms
  /// Probability of the block's dropout: of the weights of attention, and of the results of attention, of the activation and of
  /// the second linear layer; if it is above 0, `build` takes a seed
  double dropout = 0.1;
  /// Standard deviation of all initial weights. They are normal, and biases are zero. None: weights and biases are uniform, as
  /// in PyTorch
  OptionalNumber std{};
  int sliding_window = 0;  ///< with is_causal: `sliding_window` of KvCacheOptions
  int cache_length = 0;  ///< `length` of KvCacheOptions; 0: no cache
};

/// Encoder layer of a transformer: attention and two linear layers, each followed by a sum and a norm ("Attention Is All You
/// Need", arXiv 1706.03762). torch.nn.TransformerEncoderLayer with batch_first=True, with its defaults. build(x) or build(x,
/// key_padding_mask). x: (batch, length, embed_dim), float16, bfloat16 or float32; key_padding_mask: (batch, length) bool, where
/// true hides a key. The result has x's shape and dtype.
///
/// With dropout, which is the default, the trace needs a mode scope, `training(ir)` or `evaluation(ir)`. The last argument may
/// then be a seed, (2,) uint32; training requires it.
///
///     tw::layers::TransformerBlock<512, 8>  // torch.nn.TransformerEncoderLayer(512, 8, batch_first=True)
///     tw::layers::TransformerBlock<512, 8, {.activation = tw::layers::Activation::gelu, .norm_first = true, .dropout = 0}>
///
/// With a `cache_length`, the block is that of a decoder which writes texts: build(x) and build(x, position) are those of
/// MultiheadAttention with a cache.
///
/// Variables: those of Linear, LayerNorm and MultiheadAttention, with their initial values and with names as in
/// torch.nn.TransformerEncoderLayer.
///
/// Errors: those of MultiheadAttention.
template <int embed_dim, int num_heads, TransformerBlockOptions options = {}>
struct TransformerBlock : Module<TransformerBlock<embed_dim, num_heads, options>> {
  using Attention = MultiheadAttention<embed_dim, num_heads,
                                       {.is_causal = options.is_causal,
                                        .bias = options.bias,
                                        .dropout = options.dropout,
                                        .std = options.std,
                                        .sliding_window = options.sliding_window,
                                        .cache_length = options.cache_length}>;
  using In = Linear<options.dim_feedforward, {.bias = options.bias, .std = options.std}>;
  using Out = Linear<embed_dim, {.bias = options.bias, .std = options.std}>;
  using Norm = LayerNorm<{.eps = options.layer_norm_eps, .bias = options.bias}>;
  BOOST_HANA_DEFINE_STRUCT(TransformerBlock, (Attention, self_attn), (In, linear1), (Out, linear2), (Norm, norm1), (Norm, norm2),
                           (Dropout, dropout));
  static constexpr bool takes_seed = options.dropout > 0, has_cache = options.cache_length > 0;

  constexpr TransformerBlock() { dropout.p = options.dropout; }

  constexpr Tensor build(Tensor x, std::same_as<Tensor> auto... mask_and_seed)
    requires(sizeof...(mask_and_seed) <= (takes_seed && !has_cache ? 2 : 1))
  {
    if (options.dim_feedforward < 1)
      return x.ir().fail(text("TransformerBlock: dim_feedforward ", options.dim_feedforward, ": at least 1 expected"));
    Tensor seed;
    if constexpr (takes_seed) {
      ((seed = detail::is_seed(mask_and_seed) ? mask_and_seed : seed), ...);
      if (!seed.valid() && require_mode(this->ir(), "TransformerBlock") == Mode::training)
        return this->ir().fail(text("TransformerBlock: ", to_text(x.spec()),
                                    " in training without a seed: a seed, (2,) uint32, as the last argument expected"));
    }
    const auto attention = [&](Tensor y) { return drop(self_attn(y, for_attention(mask_and_seed)...), seed, 0); };
    const auto feed_forward = [&](Tensor y) {
      return drop(linear2(drop(activate(linear1(y), options.activation), seed, 1)), seed, 2);
    };
    if constexpr (options.norm_first) {
      x = x + attention(norm1(x));
      return x + feed_forward(norm2(x));
    } else {
      x = norm1(x + attention(x));
      return norm2(x + feed_forward(x));
    }
  }

 private:
  /// Returns a mask as it is, and draws a new seed from a seed.
  static constexpr Tensor for_attention(Tensor mask_or_seed) {
    if constexpr (!takes_seed) return mask_or_seed;
    else return detail::is_seed(mask_or_seed) ? ops::create_random_seed(mask_or_seed, 3) : mask_or_seed;
  }
  /// Applies dropout number `place` of the block. Without a seed, the mode is evaluation.
  constexpr Tensor drop(Tensor x, Tensor seed, int place) {
    if constexpr (!takes_seed) return x;
    else return seed.valid() ? dropout(x, ops::create_random_seed(seed, place)) : x;
  }
};

}  // namespace tilewright::layers
