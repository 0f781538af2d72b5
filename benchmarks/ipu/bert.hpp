#pragma once
// BERT (arXiv 1810.04805) without embeddings and dropout: encoder layers that normalise last. Sizes are those of BERT-Large,
// unless a type says another.
#include <tilewright/layers/transformer_block.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

namespace bert {

inline constexpr int sequence = 128, hidden = 1024, heads = 16;
inline constexpr tw::TensorSpec activations{{1, sequence, hidden}, tw::float16};

template <int width, int count>
using LayerOf = tw::layers::TransformerBlock<width, count,
                                             {.dim_feedforward = 4 * width,
                                              .activation = tw::layers::Activation::gelu,
                                              .layer_norm_eps = 1e-12,
                                              .dropout = 0,
                                              .std = 0.02}>;
using Layer = LayerOf<hidden, heads>;

/// Layers with one graph, which is called with the weights of each.
template <int layers, class Each = Layer>
struct Encoder : tw::Module<Encoder<layers, Each>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto [factories, layer] = tw::create_graph(Each{}, x);
    for (int i = 0; i < layers; ++i) x = layer.bind(this->add_variable_inputs(tw::text("layers.", i).view(), factories)).call(x);
    return x;
  }
};
/// One layer is inlined.
template <class Each>
struct Encoder<1, Each> : tw::Module<Encoder<1, Each>> {
  BOOST_HANA_DEFINE_STRUCT(Encoder, (Each, layer));
  constexpr tw::Tensor build(tw::Tensor x) { return layer(x); }
};

template <int layers>
constexpr void inference(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", activations));
  const auto [factories, forward] = tw::create_graph(Encoder<layers>{}, x);
  const auto weights = factories.init();
  tw::ops::host_store(ir.d2h_stream("y", activations), forward.bind(weights).call(x));
}

/// The result, the gradients of all weights for a given gradient of the result, and a step of gradient descent.
template <int layers, class Each = Layer>
struct Training {
  tw::TensorSpec spec = activations;

  constexpr void operator()(tw::Ir& ir) const {
    const auto x = tw::ops::host_load(ir.h2d_stream("x", spec));
    const auto dy = tw::ops::host_load(ir.h2d_stream("dy", spec));
    const auto [factories, forward] = tw::create_graph(Encoder<layers, Each>{}, x);
    const auto backward = tw::autodiff(forward);
    const auto weights = factories.init();

    const auto call = forward.bind(weights).call_with_info(x);
    tw::ops::host_store(ir.d2h_stream("y", spec), call.output(0));
    const auto info = backward.grad_graph_info();
    const auto backward_call = backward.call_with_info(dy, info.inputs_dict(call));
    const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
    for (const auto& [name, weight] : weights.named_tensors()) tw::ops::scaled_add_(weight, gradients[weight], {.b = -0.001});
  }
};
template <int layers>
constexpr void training(tw::Ir& ir) {
  Training<layers>{}(ir);
}

}  // namespace bert
