#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/elementwise/activation.hpp"

namespace tilewright::layers {

/// Activation between the two matrices of a feed-forward layer. gelu: the exact form with erf, PyTorch's default; gelu_tanh:
/// GPT-2's form.
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu };

/// Applies the activation to x, which has any shape and a floating-point dtype. The result has x's shape and dtype.
[[nodiscard]] constexpr Tensor activate(Tensor x, Activation activation) {
  switch (activation) {
    case Activation::relu: return ops::relu(x);
    case Activation::gelu: return ops::geluerf(x);
    case Activation::gelu_tanh: return ops::gelu(x);
    case Activation::silu: return ops::swish(x);
  }
  return x;
}

/// Options of FeedForward. `activation` and `bias` are those of torch.nn.TransformerEncoderLayer.
struct FeedForwardOptions {
  Activation activation = Activation::relu;  ///< activation between the two linear layers
  Flag bias = true;  ///< whether both linear layers have a bias
  OptionalNumber std{};  ///< standard deviation of normal initial weights, as in LinearOptions; none: Linear's initial values
};

/// Feed-forward layer: linear2(activation(linear1(x))), the linear layers of torch.nn.TransformerEncoderLayer. x: (..., width),
/// float16, bfloat16 or float32. The result has x's shape and dtype.
///
/// Variables: `linear1.weight` (width, hidden), `linear2.weight` (hidden, width), and their biases. Names and initial values are
/// those of torch.nn.TransformerEncoderLayer: for linear1 uniform within 1 / sqrt(width), for linear2 within 1 / sqrt(hidden).
template <int width, int hidden, FeedForwardOptions options = {}>
struct FeedForward : Module<FeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = options.bias, .std = options.std}>;
  using Out = Linear<width, {.bias = options.bias, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, linear1), (Out, linear2));

  constexpr Tensor build(Tensor x) { return linear2(activate(linear1(x), options.activation)); }
};

/// Options of SwigluFeedForward. `std` is `initializer_range` of Hugging Face's LlamaConfig.
struct SwigluFeedForwardOptions {
  double std = 0.02;  ///< standard deviation of the initial weights
};

/// Feed-forward layer with a gate: down_proj(silu(gate_proj(x)) up_proj(x)) ("GLU Variants Improve Transformer", arXiv
/// 2002.05202). x: (..., width), float16, bfloat16 or float32. The result has x's shape and dtype.
///
/// Variables: `gate_proj.weight` and `up_proj.weight` (width, hidden), `down_proj.weight` (hidden, width), without biases. Names
/// are those of Hugging Face's LlamaMLP. Initial values: normal with mean 0 and the standard deviation `std`.
template <int width, int hidden, SwigluFeedForwardOptions options = {}>
struct SwigluFeedForward : Module<SwigluFeedForward<width, hidden, options>> {
  using In = Linear<hidden, {.bias = false, .std = options.std}>;
  using Out = Linear<width, {.bias = false, .std = options.std}>;
  BOOST_HANA_DEFINE_STRUCT(SwigluFeedForward, (In, gate_proj), (In, up_proj), (Out, down_proj));

  constexpr Tensor build(Tensor x) {
    const Tensor gate = ops::swish(gate_proj(x));
    return down_proj(gate * up_proj(x));
  }
};

}  // namespace tilewright::layers
