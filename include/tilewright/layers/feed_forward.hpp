#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/elementwise/activation.hpp"

namespace tilewright::layers {

/// What stands between the two matrices of a feed-forward layer. gelu: with erf, as PyTorch's default; gelu_tanh: GPT-2's form.
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu };

/// The activation of x: of any shape and dtype of floating point; result: as x.
constexpr Tensor activate(Tensor x, Activation activation) {
  switch (activation) {
    case Activation::relu: return ops::relu(x);
    case Activation::gelu: return ops::geluerf(x);
    case Activation::gelu_tanh: return ops::gelu(x);
    case Activation::silu: return ops::swish(x);
  }
  return x;
}

/// `activation` and `bias` are those of torch.nn.TransformerEncoderLayer.
struct FeedForwardOptions {
  Activation activation = Activation::relu;  ///< between the two linear layers
  bool bias = true;                          ///< of both linear layers
  OptionalNumber std{};  ///< standard deviation of the first weights, as LinearOptions has it; none: Linear's first values
};

/// linear2(activation(linear1(x))): the linear layers of torch.nn.TransformerEncoderLayer. x: (..., width), float16, bfloat16 or
/// float32; result: the same.
///
/// Variables: `linear1.weight` (width, hidden), `linear2.weight` (hidden, width), and their biases. Names and first values
/// are those of torch.nn.TransformerEncoderLayer: Linear's, uniform within 1 / sqrt(width) and 1 / sqrt(hidden).
template <int width, int hidden, FeedForwardOptions options = {}>
struct FeedForward : Module<FeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = options.bias, .std = options.std}>;
  using Out = Linear<width, {.bias = options.bias, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, linear1), (Out, linear2));

  constexpr Tensor build(Tensor x) { return linear2(activate(linear1(x), options.activation)); }
};

/// `std` is `initializer_range` of Hugging Face's LlamaConfig.
struct SwigluFeedForwardOptions {
  double std = 0.02;  ///< standard deviation of the first weights
};

/// down_proj(silu(gate_proj(x)) up_proj(x)) ("GLU Variants Improve Transformer", arXiv 2002.05202). x: (..., width), float16,
/// bfloat16 or float32; result: the same.
///
/// Variables: `gate_proj.weight` and `up_proj.weight` (width, hidden), `down_proj.weight` (hidden, width), without biases. Names
/// as in Hugging Face's LlamaMLP, and first values: normal with mean 0 and the standard deviation `std`.
template <int width, int hidden, SwigluFeedForwardOptions options = {}>
struct SwigluFeedForward : Module<SwigluFeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = false, .std = options.std}>;
  using Out = Linear<width, {.bias = false, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(SwigluFeedForward, (In, gate_proj), (In, up_proj), (Out, down_proj));

  constexpr Tensor build(Tensor x) { return down_proj(ops::swish(gate_proj(x)) * up_proj(x)); }
};

}  // namespace tilewright::layers
