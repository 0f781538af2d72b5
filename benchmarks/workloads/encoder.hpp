#pragma once
// Transformer encoder blocks ("Attention Is All You Need", arXiv 1706.03762) that normalise first, without dropout.
#include "blocks.hpp"
#include "session.hpp"

struct EncoderBlock : tw::Module<EncoderBlock> {
  static constexpr int hidden = 256;
  using Attention = SelfAttention<hidden, 4>;
  using Inner = FeedForward<hidden, 1024>;
  BOOST_HANA_DEFINE_STRUCT(EncoderBlock, (LayerNorm, norm1), (Attention, attention), (LayerNorm, norm2), (Inner, feed_forward));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = x + attention(norm1(x));
    return x + feed_forward(norm2(x));
  }
};

/// Blocks one after the other, each with ops of its own.
template <int layers>
struct EncoderInlined : tw::Module<EncoderInlined<layers>> {
  using Blocks = std::array<EncoderBlock, layers>;
  BOOST_HANA_DEFINE_STRUCT(EncoderInlined, (Blocks, blocks));

  constexpr tw::Tensor build(tw::Tensor x) {
    for (auto& block : blocks) x = block(x);
    return x;
  }
};

/// The same with one graph for all blocks, which is called with the weights of each.
template <int layers>
struct EncoderOutlined : tw::Module<EncoderOutlined<layers>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto [factories, block] = tw::create_graph(EncoderBlock{}, x);
    for (int i = 0; i < layers; ++i) {
      const auto weights = this->add_variable_inputs(tw::text("blocks.", i).view(), factories);
      x = block.bind(weights).call(x);
    }
    return x;
  }
};

/// The result and the gradients of all weights, for a given gradient of the result.
template <class Model>
constexpr void forward_and_backward(tw::Ir& ir) {
  const tw::TensorSpec spec{{4, 128, EncoderBlock::hidden}, tw::float32};
  const auto x = tw::ops::host_load(ir.h2d_stream("x", spec));
  const auto dy = tw::ops::host_load(ir.h2d_stream("dy", spec));
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto backward = tw::autodiff(forward);
  const auto weights = factories.init();

  const auto call = forward.bind(weights).call_with_info(x);
  tw::ops::host_store(ir.d2h_stream("y", spec), call.output(0));
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(dy, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  for (const auto& [name, weight] : weights.named_tensors())
    tw::ops::host_store(ir.d2h_stream(tw::text("gradient of ", name).view(), weight.spec()), gradients[weight]);
}

/// The main function of such a program.
template <class Model>
int serve_encoder(int argc, char** argv) {
  auto x = random_numbers(4, 128, EncoderBlock::hidden), dy = random_numbers(4, 128, EncoderBlock::hidden);
  return serve_session<tw::Session<forward_and_backward<Model>>>(
      argc, argv, [&](auto& session, std::size_t i) { return session.run("x"_s = x[i], "dy"_s = dy[i])["y"_s](0, 0, 0); });
}
