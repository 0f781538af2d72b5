#pragma once
// GPT-2's network ("Language Models are Unsupervised Multitask Learners", 2019), with its names for weights, of any size.
#include <tilewright/layers/attention.hpp>
#include <tilewright/layers/dropout.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/layer_norm.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace gpt {

namespace tw = tilewright;
namespace ops = tilewright::ops;

struct Size {
  int vocabulary, context, layers, heads, width;
  bool bias = true;    ///< of linear layers and norms
  double dropout = 0;  ///< in training
  tw::DType dtype = tw::float32;
};

/// Weights that end a branch start smaller the more branches are added up.
template <Size size>
inline constexpr double branch_std = 0.02 / tw::layers::detail::square_root(2.0 * size.layers);
template <Size size, int factor>
using Widen = tw::layers::Linear<factor * size.width, {.bias = size.bias}>;
template <Size size>
using Narrow = tw::layers::Linear<size.width, {.bias = size.bias, .std = branch_std<size>}>;
template <Size size>
using Norm = tw::layers::LayerNorm<{.bias = size.bias}>;

template <Size size>
struct Attention : tw::Module<Attention<size>> {
  using In = Widen<size, 3>;
  using Out = Narrow<size>;
  BOOST_HANA_DEFINE_STRUCT(Attention, (In, c_attn), (Out, c_proj));

  constexpr tw::Tensor build(tw::Tensor x) {
    const tw::Tensor all = c_attn(x);
    const auto heads = [&all](int part) {
      return tw::layers::split_heads(all[{tw::ellipsis, tw::slice(part * size.width, (part + 1) * size.width)}], size.heads);
    };
    return c_proj(tw::layers::merge_heads(tw::layers::attend(heads(0), heads(1), heads(2), true)));
  }
};

template <Size size>
struct FeedForward : tw::Module<FeedForward<size>> {
  using In = Widen<size, 4>;
  using Out = Narrow<size>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, c_fc), (Out, c_proj));

  constexpr tw::Tensor build(tw::Tensor x) { return c_proj(ops::gelu(c_fc(x))); }
};

template <Size size>
struct Block : tw::Module<Block<size>> {
  using Norm1 = Norm<size>;
  BOOST_HANA_DEFINE_STRUCT(Block, (Norm1, ln_1), (Attention<size>, attn), (Norm1, ln_2), (FeedForward<size>, mlp));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = x + attn(ln_1(x));
    return x + mlp(ln_2(x));
  }
};

/// Logits of the next token at each place. tokens: (batch, length), integers; result: (batch, length, vocabulary).
template <Size size>
struct Gpt : tw::Module<Gpt<size>> {
  using Tokens = tw::layers::Embedding<size.vocabulary, size.width, {.std = 0.02, .dtype = size.dtype}>;
  using Positions = tw::layers::Embedding<size.context, size.width, {.std = 0.02, .dtype = size.dtype}>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Tokens, wte), (Positions, wpe), (Norm<size>, ln_f));

  constexpr tw::Tensor build(tw::Tensor tokens) {
    tw::Ir& ir = this->ir();
    tw::Tensor x = wte(tokens) + wpe(ir.constant(tw::range(), {tokens.shape(1)}, tw::int32, "positions"));
    const auto [factories, block] = tw::create_graph(Block<size>{}, x);  // one graph for all blocks
    for (int i = 0; i < size.layers; ++i) x = block.bind(this->add_variable_inputs(tw::text("h.", i).view(), factories)).call(x);
    return wte.logits(ln_f(x));
  }
};

}  // namespace gpt
