#pragma once
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

inline constexpr int train_batch_size = 8;
inline constexpr int test_batch_size = 80;
inline constexpr double learning_rate = 0.05;

// The smaller network of PopXL's user guide and its programs: see ../more/mnist_guide.cpp.

/// gelu(x W + b). `build` leaves its graph inputs in W and b, for the calls.
struct Linear : tw::Module<Linear> {
  tw::Tensor W, b;

  constexpr tw::Tensor build(tw::Tensor x, int out_features) {
    W = tw::graph_input(ir(), {x.shape(-1), out_features}, tw::float32, "W");
    b = tw::graph_input(ir(), {out_features}, tw::float32, "b");
    return tw::ops::gelu(x.matmul(W) + b);
  }
};

/// The two layers, called once each, and what their gradients need.
struct Network {
  struct Layer {
    Linear module;
    tw::Tensor W, b;
    tw::CallSiteInfo call;
  };
  Layer first, second;

  static constexpr Layer make_layer(tw::Ir& ir, tw::Tensor x, int out_features, std::string_view W_name,
                                    std::string_view b_name) {
    const auto W = ir.variable(tw::normal(0, 0.02), {x.shape(-1), out_features}, tw::float32, W_name);
    const auto b = ir.variable(tw::normal(0, 0.02), {out_features}, tw::float32, b_name);
    Linear linear;
    const auto graph = ir.create_graph(linear, x, out_features);
    return {linear, W, b, tw::call_with_info(graph, x, {{linear.W, W}, {linear.b, b}})};
  }
  constexpr Network(tw::Ir& ir, tw::Tensor images)
      : first(make_layer(ir, images.reshape({-1, 28 * 28}), 32, "W0", "b0")),
        second(make_layer(ir, first.call.output(0), 10, "W1", "b1")) {}
};

constexpr void train_step(tw::Ir& ir) {
  const auto ordered = tw::in_sequence(ir);
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {train_batch_size, 28, 28}, tw::float32), "x");
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {train_batch_size}, tw::int32), "labels");

  const Network network(ir, images);
  const auto& [first, second] = network;
  const auto probabilities = tw::ops::softmax(second.call.output(0), -1);
  const auto [loss, dy] = tw::ops::nll_loss_with_softmax_grad(probabilities, labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);

  // the second layer: gradients of all its inputs, found by the tensors that it was called with
  const auto second_grad = tw::autodiff(second.call.called_graph());
  const auto second_grad_call = tw::call_with_info(second_grad.graph(), dy, second_grad.inputs_dict(second.call));
  const auto gradients = second_grad.fwd_parent_ins_to_grad_parent_outs(second.call, second_grad_call);
  const auto dx = gradients[first.call.output(0)];

  // the first layer: only the gradients that were asked for, in that order
  const auto first_grad = tw::autodiff(first.call.called_graph(), {.grads_required = {{first.module.W, first.module.b}}});
  const auto [dW, db] = tw::call(first_grad.graph(), dx, first_grad.inputs_dict(first.call)).as<2>();

  tw::ops::scaled_add_(first.W, dW, {.b = -learning_rate});
  tw::ops::scaled_add_(first.b, db, {.b = -learning_rate});
  tw::ops::scaled_add_(second.W, gradients[second.W], {.b = -learning_rate});
  tw::ops::scaled_add_(second.b, gradients[second.b], {.b = -learning_rate});
}

constexpr void test_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {test_batch_size, 28, 28}, tw::float32));
  const auto probabilities = tw::ops::softmax(Network(ir, images).second.call.output(0));
  tw::ops::host_store(ir.d2h_stream("outputs", probabilities.spec()), probabilities);
}
