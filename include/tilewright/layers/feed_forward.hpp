#pragma once
#include <cstdint>

#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/elementwise/activation.hpp"

namespace tilewright::layers {

/// What stands between the two matrices of a feed-forward layer. gelu: with erf, as PyTorch's default; gelu_tanh: GPT-2's form.
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu };

constexpr Tensor activate(Tensor x, Activation activation) {
  switch (activation) {
    case Activation::relu: return ops::relu(x);
    case Activation::gelu: return ops::geluerf(x);
    case Activation::gelu_tanh: return ops::gelu(x);
    case Activation::silu: return ops::swish(x);
  }
  return x;
}

struct FeedForwardOptions {
  Activation activation = Activation::relu;
  bool bias = true;
  OptionalNumber std{};  ///< as Linear's
};

/// linear2(activation(linear1(x))). x: (..., width), float16, bfloat16 or float32; result: the same.
///
/// Variables: `linear1.weight` (width, hidden), `linear2.weight` (hidden, width), and their biases. Names, first values and
/// defaults are those of torch.nn.TransformerEncoderLayer.
template <int width, int hidden, FeedForwardOptions options = {}>
struct FeedForward : Module<FeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = options.bias, .std = options.std}>;
  using Out = Linear<width, {.bias = options.bias, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, linear1), (Out, linear2));

  constexpr Tensor build(Tensor x) { return linear2(activate(linear1(x), options.activation)); }
};

struct SwigluFeedForwardOptions {
  double std = 0.02;  ///< standard deviation of the first weights
};

/// down_proj(silu(gate_proj(x)) up_proj(x)) ("GLU Variants Improve Transformer", arXiv 2002.05202). x: (..., width), float16,
/// bfloat16 or float32; result: the same.
///
/// Variables: `gate_proj.weight` and `up_proj.weight` (width, hidden), `down_proj.weight` (hidden, width), without biases. Names
/// as in Hugging Face's LlamaMLP, and first values: normal with mean 0 and the standard deviation 0.02.
template <int width, int hidden, SwigluFeedForwardOptions options = {}>
struct SwigluFeedForward : Module<SwigluFeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = false, .std = options.std}>;
  using Out = Linear<width, {.bias = false, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(SwigluFeedForward, (In, gate_proj), (In, up_proj), (Out, down_proj));

  constexpr Tensor build(Tensor x) { return down_proj(ops::swish(gate_proj(x)) * up_proj(x)); }
};

}  // namespace tilewright::layers
