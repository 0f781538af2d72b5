#pragma once
// The cases of tests/reference/layers.txt.
#include <tilewright/layers/layers.hpp>

#include "op_case.hpp"

namespace layer_cases {

using namespace op_cases;
namespace layers = tw::layers;
using tw::DType;

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

template <DType dtype>
constexpr TensorSpec floats(std::initializer_list<std::int64_t> shape) {
  return {shape, dtype};
}

template <DType dtype>
constexpr void norms(Ir& ir) {
  const auto mode = tw::training(ir);
  layer(ir, "layer_norm", layers::LayerNorm<>{}, floats<dtype>({2, 3, 5}));
  layer(ir, "rms_norm", layers::RMSNorm<{.eps = 1e-6}>{}, floats<dtype>({2, 3, 5}));
  layer(ir, "group_norm", layers::GroupNorm<2>{}, floats<dtype>({2, 6, 3}));
  layer(ir, "batch_norm", layers::BatchNorm<{.momentum = 0.25}>{}, floats<dtype>({3, 2, 4}));
  const auto evaluation = tw::evaluation(ir);
  layer(ir, "batch_norm_evaluation", layers::BatchNorm<>{}, floats<dtype>({3, 2, 4}));
}

template <DType dtype>
constexpr void convolutions(Ir& ir) {
  layer(ir, "conv1d", layers::Conv1d<4, 3, {.stride = 2, .padding = 1}>{}, floats<dtype>({2, 3, 7}));
  layer(ir, "conv2d", layers::Conv2d<4, {3, 2}, {.padding = {2, 0}, .dilation = {2, 1}, .groups = 2}>{},
        floats<dtype>({2, 2, 5, 4}));
  layer(ir, "conv3d", layers::Conv3d<2, 2, {.bias = false}>{}, floats<dtype>({1, 2, 3, 3, 3}));
  layer(ir, "conv_transpose1d", layers::ConvTranspose1d<4, 3, {.stride = 2, .output_padding = 1, .groups = 2}>{},
        floats<dtype>({2, 2, 4}));
  layer(ir, "conv_transpose2d", layers::ConvTranspose2d<3, 2, {.stride = {2, 1}, .padding = {0, 1}}>{},
        floats<dtype>({1, 2, 3, 4}));
  layer(ir, "conv_transpose3d", layers::ConvTranspose3d<2, 2, {.bias = false}>{}, floats<dtype>({1, 2, 2, 2, 2}));
}
template <DType dtype>
constexpr void pools(Ir& ir) {
  layer(ir, "max_pool1d", layers::MaxPool1d<3, {.stride = 2, .padding = 1}>{}, floats<dtype>({2, 2, 7}));
  layer(ir, "max_pool2d", layers::MaxPool2d<{2, 3}, {.dilation = {2, 1}}>{}, floats<dtype>({1, 2, 6, 6}));
  layer(ir, "max_pool3d", layers::MaxPool3d<2>{}, floats<dtype>({1, 2, 4, 2, 2}));
  layer(ir, "avg_pool1d", layers::AvgPool1d<2>{}, floats<dtype>({2, 2, 6}));
  layer(ir, "avg_pool2d", layers::AvgPool2d<3, {.stride = {2, 3}, .padding = 1, .count_include_pad = false}>{},
        floats<dtype>({1, 2, 5, 6}));
  layer(ir, "avg_pool1d_padded", layers::AvgPool1d<3, {.stride = 2, .padding = 1}>{}, floats<dtype>({2, 2, 7}));
  layer(ir, "avg_pool2d_padded", layers::AvgPool2d<{3, 4}, {.stride = {2, 3}, .padding = {1, 2}, .ceil_mode = true}>{},
        floats<dtype>({1, 2, 6, 8}));
  layer(ir, "avg_pool3d", layers::AvgPool3d<2, {.ceil_mode = true}>{}, floats<dtype>({1, 1, 3, 2, 4}));
}

template <DType dtype>
constexpr void feed_forward(Ir& ir) {
  layer(ir, "linear", layers::Linear<4>{}, floats<dtype>({2, 3, 5}));
  layer(ir, "embedding", layers::Embedding<6, 5, {.dtype = dtype}>{}, i32({2, 3}));
  layer(ir, "feed_forward", layers::FeedForward<6, 10, {.activation = layers::Activation::gelu}>{}, floats<dtype>({2, 3, 6}));
}
/// With PyTorch's defaults.
constexpr void defaults(Ir& ir) {
  layer(ir, "rms_norm_default", layers::RMSNorm<>{}, f32({2, 3, 5}));
  layer(ir, "feed_forward_default", layers::FeedForward<6, 4>{}, f32({3, 6}));
}
template <DType dtype>
constexpr void feed_forward_silu(Ir& ir) {
  using layers::Activation;
  layer(ir, "feed_forward_silu", layers::FeedForward<6, 5, {.activation = Activation::silu, .bias = false}>{},
        floats<dtype>({3, 6}));
}
template <DType dtype>
constexpr void swiglu(Ir& ir) {
  layer(ir, "swiglu", layers::SwigluFeedForward<6, 10>{}, floats<dtype>({2, 3, 6}));
}
template <DType dtype>
constexpr void attention_to_itself(Ir& ir) {
  layer(ir, "padded", layers::MultiheadAttention<8, 2>{}, floats<dtype>({2, 5, 8}), bools({2, 5}));
}
template <DType dtype>
constexpr void attention_to_others(Ir& ir) {
  layer(ir, "padded_cross", layers::MultiheadAttention<8, 2>{}, floats<dtype>({2, 3, 8}), floats<dtype>({2, 5, 8}),
        floats<dtype>({2, 5, 8}), bools({2, 5}));
}
template <DType dtype>
constexpr void block(Ir& ir) {
  using layers::Activation;
  layer(
      ir, "block",
      layers::TransformerBlock<8, 2, {.dim_feedforward = 12, .activation = Activation::gelu, .norm_first = true, .dropout = 0}>{},
      floats<dtype>({2, 5, 8}), bools({2, 5}));
}
template <DType dtype>
constexpr void block_norm_last(Ir& ir) {
  layer(ir, "block_norm_last", layers::TransformerBlock<8, 2, {.dim_feedforward = 12, .is_causal = true, .dropout = 0}>{},
        floats<dtype>({2, 5, 8}));
}
constexpr void dropouts(Ir& ir) {
  const auto mode = tw::training(ir);
  const TensorSpec seed{{2}, tw::uint32};
  layer(ir, "dropped", layers::MultiheadAttention<8, 2, {.dropout = 0.25}>{}, f32({2, 5, 8}), bools({2, 5}), seed);
  using layers::Activation;
  layer(ir, "block_dropped",
        layers::TransformerBlock<8, 2,
                                 {.dim_feedforward = 12, .activation = Activation::gelu, .norm_first = true, .dropout = 0.25}>{},
        f32({2, 5, 8}), bools({2, 5}), seed);
}
template <DType dtype>
constexpr void llama_block(Ir& ir) {
  layer(ir, "llama", layers::LlamaBlock<16, 20, 4, 2, {.attention = {.rope_theta = 100}}>{}, floats<dtype>({2, 5, 16}));
}
template <DType dtype>
constexpr void grouped_queries(Ir& ir) {
  layer(ir, "grouped_queries", layers::GroupedQueryAttention<12, 3, 1, {.is_causal = false, .bias = true}>{},
        floats<dtype>({2, 3, 12}), i32({3}));
}
template <DType dtype>
constexpr void gru(Ir& ir) {
  layer(ir, "gru", layers::GRU<4, {.num_layers = 2}>{}, floats<dtype>({2, 5, 3}));
}
template <DType dtype>
constexpr void lstm(Ir& ir) {
  layer(ir, "lstm", layers::LSTM<4>{}, floats<dtype>({2, 5, 3}));
}
template <DType dtype>
constexpr void lstm_without_bias(Ir& ir) {
  layer(ir, "lstm_without_bias", layers::LSTM<3, {.bias = false}>{}, floats<dtype>({1, 2, 3}));
}

/// An LSTM of padded sequences with initial states; the last states are the first result.
struct LastFirst : tw::Module<LastFirst> {
  using Lstm = layers::LSTM<4, {.num_layers = 2, .bidirectional = true}>;
  BOOST_HANA_DEFINE_STRUCT(LastFirst, (Lstm, lstm));

  constexpr std::pair<Tensor, Tensor> build(Tensor x, Tensor lengths, Tensor h0, Tensor c0) {
    const auto [results, h, c] = lstm(x, lengths, h0, c0);
    return {ops::concat({h, c}, -1), results};
  }
};
constexpr void sequences(Ir& ir) {
  const auto mode = tw::training(ir);
  layer(ir, "gru_packed", layers::GRU<4, {.num_layers = 2, .bidirectional = true}>{}, f32({3, 4, 3}), i32({3}));
  layer(ir, "lstm_packed", LastFirst{}, f32({2, 4, 3}), i32({2}), f32({4, 2, 4}), f32({4, 2, 4}));
  layer(ir, "gru_both_ways", layers::GRU<5, {.bidirectional = true}>{}, f32({2, 3, 3}), f32({2, 2, 5}));
  layer(ir, "gru_dropped", layers::GRU<4, {.num_layers = 3, .dropout = 0.25}>{}, f32({2, 3, 3}), TensorSpec{{2}, tw::uint32});
}
constexpr void small_layers(Ir& ir) {
  using layers::Linear, layers::Apply;
  layer(ir, "sequential",
        layers::Sequential(layers::Flatten<1, 2>(), Linear<5>(), Apply<ops::relu>(),
                           layers::Residual(Linear<5>(), [](Tensor x) { return ops::tanh(x); })),
        f32({2, 2, 3}));
  layer(ir, "embedding_padded", layers::Embedding<6, 5, {.padding_idx = -4}>{}, i32({2, 3}));
  layer(ir, "adaptive_avg_pool1d", layers::AdaptiveAvgPool1d<3>{}, f32({2, 2, 6}));
  layer(ir, "adaptive_avg_pool2d", layers::AdaptiveAvgPool2d<{3, 2}>{}, f32({1, 2, 5, 7}));
  layer(ir, "adaptive_avg_pool3d", layers::AdaptiveAvgPool3d<{2, 5, 2}>{}, f32({1, 1, 3, 3, 2}));
  layer(ir, "adaptive_max_pool1d", layers::AdaptiveMaxPool1d<3>{}, f32({2, 2, 5}));
  layer(ir, "adaptive_max_pool2d", layers::AdaptiveMaxPool2d<{3, 2}>{}, f32({1, 2, 5, 6}));
  {
    const auto mode = tw::training(ir);
    layer(ir, "batch_norm_default", layers::BatchNorm<>{}, f32({3, 2, 2, 2}));
  }
  layer(ir, "conv2d_default", layers::Conv2d<3, 2>{}, f32({1, 2, 3, 4}));
  layer(ir, "conv_transpose2d_default", layers::ConvTranspose2d<3, 2>{}, f32({1, 2, 3, 2}));
  layer(ir, "gru_default", layers::GRU<4>{}, f32({2, 3, 3}));
  layer(ir, "avg_pool2d_divided", layers::AvgPool2d<{2, 3}, {.padding = 1, .ceil_mode = true, .divisor_override = 5}>{},
        f32({1, 2, 5, 6}));
}

/// In one program each, whose session is compiled once.
constexpr void for_texts(Ir& ir) {
  norms<tw::float32>(ir);
  defaults(ir);
  feed_forward<tw::float32>(ir);
  feed_forward_silu<tw::float32>(ir);
  swiglu<tw::float32>(ir);
  attention_to_itself<tw::float32>(ir);
  attention_to_others<tw::float32>(ir);
  block<tw::float32>(ir);
  block_norm_last<tw::float32>(ir);
  dropouts(ir);
  llama_block<tw::float32>(ir);
  grouped_queries<tw::float32>(ir);
  gru<tw::float32>(ir);
  lstm<tw::float32>(ir);
  lstm_without_bias<tw::float32>(ir);
}
constexpr void for_images(Ir& ir) {
  convolutions<tw::float32>(ir);
  pools<tw::float32>(ir);
}

}  // namespace layer_cases
