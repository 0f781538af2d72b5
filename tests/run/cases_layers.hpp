#pragma once
// The cases of tests/reference/layers.txt.
#include <tilewright/layers/layers.hpp>

#include "op_case.hpp"

namespace layer_cases {

using namespace op_cases;
namespace layers = tw::layers;

/// A layer as a small program: its inputs x0, x1, ..., its variables and the gradient dy0 of its first result are variables; its
/// results y0, y1, ..., the gradients dx0, ... and d_<variable>, and new_<variable> for what has no gradient, are streams.
template <class Layer, class... Specs>
constexpr void layer(Ir& ir, std::string_view name, const Layer& layer, const Specs&... specs) {
  const Case test(ir, name);
  const auto [factories, forward] = tw::create_graph(ir, layer, specs...);
  const std::size_t result_count = forward.graph().outputs().size();
  const tw::List<Tensor> first_result{forward.graph().output(0)};
  const auto backward = tw::autodiff(forward, {.grads_provided = first_result});
  const tw::NamedTensors variables = factories.init(name);
  std::vector<Tensor> inputs;
  (inputs.push_back(test.variable("x", inputs.size(), specs)), ...);
  const auto call = forward.bind(variables).call_with_inputs(inputs, {});
  for (std::size_t i = 0; i < result_count; ++i) test.store("y", i, call.output(static_cast<int>(i)));
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(
      call, backward.call_with_info(test.variable("dy", 0, call.output(0).spec()), info.inputs_dict(call)));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const Tensor* dx = gradients.find(inputs[i])) test.store("dx", i, *dx);
  for (const auto& [variable_name, variable] : variables.named_tensors()) {
    const Tensor* gradient = gradients.find(variable);
    const tw::Text stream = tw::text(name, gradient ? ".d_" : ".new_", variable_name);
    const Tensor result = gradient ? *gradient : variable;
    ops::host_store(ir.d2h_stream(stream.view(), result.spec()), result);
  }
}

constexpr void norms(Ir& ir) {
  const auto mode = tw::training(ir);
  layer(ir, "rms_norm", layers::RMSNorm<>{}, f32({2, 3, 5}));
  layer(ir, "group_norm", layers::GroupNorm<2>{}, f32({2, 6, 3}));
  layer(ir, "batch_norm", layers::BatchNorm<{.momentum = 0.25}>{}, f32({3, 2, 4}));
  const auto evaluation = tw::evaluation(ir);
  layer(ir, "batch_norm_evaluation", layers::BatchNorm<>{}, f32({3, 2, 4}));
}

constexpr void convolutions(Ir& ir) {
  layer(ir, "conv1d", layers::Conv1d<4, 3, {.stride = 2, .padding = 1}>{}, f32({2, 3, 7}));
  layer(ir, "conv2d", layers::Conv2d<4, {3, 2}, {.padding = {2, 0}, .dilation = {2, 1}, .groups = 2}>{}, f32({2, 2, 5, 4}));
  layer(ir, "conv3d", layers::Conv3d<2, 2, {.bias = false}>{}, f32({1, 2, 3, 3, 3}));
  layer(ir, "conv_transpose1d", layers::ConvTranspose1d<4, 3, {.stride = 2, .output_padding = 1, .groups = 2}>{}, f32({2, 2, 4}));
  layer(ir, "conv_transpose2d", layers::ConvTranspose2d<3, 2, {.stride = {2, 1}, .padding = {0, 1}}>{}, f32({1, 2, 3, 4}));
  layer(ir, "conv_transpose3d", layers::ConvTranspose3d<2, 2, {.bias = false}>{}, f32({1, 2, 2, 2, 2}));
}
constexpr void pools(Ir& ir) {
  layer(ir, "max_pool1d", layers::MaxPool1d<3, {.stride = 2, .padding = 1}>{}, f32({2, 2, 7}));
  layer(ir, "max_pool2d", layers::MaxPool2d<{2, 3}, {.dilation = {2, 1}}>{}, f32({1, 2, 6, 6}));
  layer(ir, "max_pool3d", layers::MaxPool3d<2>{}, f32({1, 2, 4, 2, 2}));
  layer(ir, "avg_pool1d", layers::AvgPool1d<2>{}, f32({2, 2, 6}));
  layer(ir, "avg_pool2d", layers::AvgPool2d<3, {.stride = {2, 3}, .padding = 1}>{}, f32({1, 2, 5, 6}));
  layer(ir, "avg_pool3d", layers::AvgPool3d<2, {.ceil_mode = true}>{}, f32({1, 1, 3, 2, 4}));
}

constexpr void transformers(Ir& ir) {
  using layers::Activation;
  layer(ir, "feed_forward", layers::FeedForward<6, 10>{}, f32({2, 3, 6}));
  layer(ir, "feed_forward_silu", layers::FeedForward<6, 5, {.activation = Activation::silu, .bias = false}>{}, f32({3, 6}));
  layer(ir, "swiglu", layers::SwigluFeedForward<6, 10>{}, f32({2, 3, 6}));
  layer(ir, "padded", layers::MultiheadAttention<8, 2>{}, f32({2, 5, 8}), bools({2, 5}));
  layer(ir, "padded_cross", layers::MultiheadAttention<8, 2>{}, f32({2, 3, 8}), f32({2, 5, 8}), f32({2, 5, 8}), bools({2, 5}));
  layer(ir, "block", layers::TransformerBlock<8, 2, {.dim_feedforward = 12}>{}, f32({2, 5, 8}), bools({2, 5}));
  layer(
      ir, "block_norm_last",
      layers::TransformerBlock<8, 2,
                               {.dim_feedforward = 12, .activation = Activation::relu, .norm_first = false, .is_causal = true}>{},
      f32({2, 5, 8}));
  const auto mode = tw::training(ir);
  const TensorSpec seed{{2}, tw::uint32};
  layer(ir, "dropped", layers::MultiheadAttention<8, 2, {.dropout = 0.25}>{}, f32({2, 5, 8}), bools({2, 5}), seed);
  layer(ir, "block_dropped", layers::TransformerBlock<8, 2, {.dim_feedforward = 12, .dropout = 0.25}>{}, f32({2, 5, 8}),
        bools({2, 5}), seed);
}
constexpr void llama(Ir& ir) {
  layer(ir, "llama", layers::LlamaBlock<16, 20, 4, 2, {.attention = {.rope_theta = 100}}>{}, f32({2, 5, 16}));
  layer(ir, "grouped_queries", layers::GroupedQueryAttention<12, 3, 1, {.is_causal = false, .bias = true}>{}, f32({2, 3, 12}),
        i32({3}));
}
constexpr void recurrent(Ir& ir) {
  layer(ir, "gru", layers::GRU<4, {.num_layers = 2}>{}, f32({2, 5, 3}));
  layer(ir, "lstm", layers::LSTM<4>{}, f32({2, 5, 3}));
  layer(ir, "lstm_without_bias", layers::LSTM<3, {.bias = false}>{}, f32({1, 2, 3}));
}

/// In one program each, whose session is compiled once.
constexpr void for_texts(Ir& ir) {
  norms(ir);
  transformers(ir);
  llama(ir);
  recurrent(ir);
}
constexpr void for_images(Ir& ir) {
  convolutions(ir);
  pools(ir);
}

}  // namespace layer_cases
