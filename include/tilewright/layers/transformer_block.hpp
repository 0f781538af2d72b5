#pragma once
#include <limits>

#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/feed_forward.hpp"
#include "tilewright/layers/layer_norm.hpp"

namespace tilewright::layers {

struct TransformerBlockOptions {
  int dim_feedforward = 0;  ///< width between the two linear layers; 0: 4 embed_dim
  Activation activation = Activation::gelu;
  bool norm_first = true;  ///< whether norms stand before attention and linear layers, or after the sums
  bool is_causal = false;  ///< whether query i sees keys 0 to i only
  bool bias = true;        ///< of linear layers and norms
  double layer_norm_eps = 1e-5;
  double dropout = 0;  ///< probability, of attention's weights, and after attention, the activation and the second linear layer;
                       ///< above 0: `build` takes a seed
};

/// Attention and two linear layers, each with a sum and a norm ("Attention Is All You Need", arXiv 1706.03762), as
/// torch.nn.TransformerEncoderLayer with batch_first=True; its defaults are others. build(x) or build(x, key_padding_mask): x:
/// (batch, length, embed_dim), float16, bfloat16 or float32; key_padding_mask: (batch, length) bool, true for keys that are not
/// seen; result: as x. With dropout, a seed, (2,) uint32, is the last argument, and the trace has a scope of a mode.
///
/// Variables: names as in torch.nn.TransformerEncoderLayer, with the weights of Linear, LayerNorm and MultiheadAttention.
template <int embed_dim, int num_heads, TransformerBlockOptions options = {}>
struct TransformerBlock : Module<TransformerBlock<embed_dim, num_heads, options>> {
  using Attention = MultiheadAttention<embed_dim, num_heads,
                                       {.is_causal = options.is_causal, .bias = options.bias, .dropout = options.dropout}>;
  static constexpr bool may_widen = embed_dim > 0 && embed_dim <= std::numeric_limits<int>::max() / 4;
  static constexpr int hidden = options.dim_feedforward != 0 ? options.dim_feedforward : may_widen ? 4 * embed_dim : 0;
  using In = Linear<hidden, {.bias = options.bias}>;
  using Out = Linear<embed_dim, {.bias = options.bias}>;
  using Norm = LayerNorm<{.eps = options.layer_norm_eps, .bias = options.bias}>;
  BOOST_HANA_DEFINE_STRUCT(TransformerBlock, (Attention, self_attn), (In, linear1), (Out, linear2), (Norm, norm1), (Norm, norm2),
                           (Dropout, dropout));
  static constexpr bool takes_seed = options.dropout > 0;
  static constexpr std::size_t seeds = takes_seed ? 1 : 0;  ///< arguments of `build`

  constexpr TransformerBlock() { dropout.p = options.dropout; }

  constexpr Tensor build(Tensor x, std::same_as<Tensor> auto... mask_and_seed)
    requires(sizeof...(mask_and_seed) == seeds || sizeof...(mask_and_seed) == seeds + 1)
  {
    constexpr bool has_mask = sizeof...(mask_and_seed) > seeds;
    if (options.dim_feedforward < 0)
      return x.ir().fail(text("TransformerBlock: dim_feedforward ", options.dim_feedforward, ": at least 0 expected"));
    const Tensor more[] = {mask_and_seed..., Tensor{}}, seed = more[has_mask];
    const auto attention = [&](Tensor y) {
      if constexpr (takes_seed && has_mask) return drop(self_attn(y, more[0], ops::create_random_seed(seed, 3)), seed, 0);
      else if constexpr (takes_seed) return drop(self_attn(y, ops::create_random_seed(seed, 3)), seed, 0);
      else return self_attn(y, mask_and_seed...);
    };
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
  /// The place-th dropout of the block.
  constexpr Tensor drop(Tensor x, Tensor seed, int place) {
    if constexpr (!takes_seed) return x;
    else return dropout(x, ops::create_random_seed(seed, place));
  }
};

}  // namespace tilewright::layers
