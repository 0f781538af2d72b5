#pragma once
// Training steps of which docs/how-it-works/scaling.md says what they take on many replicas.
#include <tilewright/tilewright.hpp>

#include "../workloads/blocks.hpp"
#include "tutorial/net.hpp"

/// A step of gradient descent: each replica computes the gradients of its batch, and all take their mean, tensor by tensor.
/// `input` is what the model takes, with `rows` labels; the model gives logits, (rows, classes).
template <class Model, tw::TensorSpec input, int rows, int replicas>
constexpr void train(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", input));
  const tw::Tensor labels = tw::ops::host_load(ir.h2d_stream("label", {rows}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(gradient, info.inputs_dict(call)));
  for (const auto& [name, variable] : variables.named_tensors()) {
    const tw::Tensor mean = tw::ops::collectives::replicated_all_reduce_(gradients[variable],
                                                                         {.op = tw::CollectiveOperator::mean});
    tw::ops::scaled_add_(variable, mean, {.b = -0.01});
  }
}

/// The tutorial's network, batches of 64.
template <int replicas>
constexpr auto train_net = train<Net, tw::TensorSpec{{64, 28, 28}, tw::float32}, 64, replicas>;

/// A block that normalises first.
struct GptBlock : tw::Module<GptBlock> {
  static constexpr int width = 768;
  using Attention = SelfAttention<width, 12>;
  using Inner = FeedForward<width, 4 * width>;
  BOOST_HANA_DEFINE_STRUCT(GptBlock, (LayerNorm, norm1), (Attention, attention), (LayerNorm, norm2), (Inner, feed_forward));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = x + attention(norm1(x));
    return x + feed_forward(norm2(x));
  }
};
/// W8: the blocks of GPT-2 124M, as calls of one graph, without masks; then a normalisation and a head of 512 classes.
struct Gpt : tw::Module<Gpt> {
  BOOST_HANA_DEFINE_STRUCT(Gpt, (LayerNorm, norm), (Linear<512>, head));

  constexpr tw::Tensor build(tw::Tensor x) {
    const auto [factories, block] = tw::create_graph(GptBlock{}, x);
    for (int i = 0; i < 12; ++i) x = block.bind(add_variable_inputs(tw::text("blocks.", i).view(), factories)).call(x);
    return head(norm(x).reshape({-1, GptBlock::width}));
  }
};
/// W8, one text of 128 tokens.
template <int replicas, tw::DType dtype = tw::float32>
constexpr auto train_gpt = train<Gpt, tw::TensorSpec{{1, 128, GptBlock::width}, dtype}, 128, replicas>;
