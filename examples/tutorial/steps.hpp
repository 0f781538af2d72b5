#pragma once
#include <tilewright/tilewright.hpp>

inline constexpr double learning_rate = 0.05;

/// variable -= learning_rate gradient, for all variables.
constexpr void gradient_descent(const tilewright::NamedTensors& variables, const tilewright::TensorMap& gradients) {
  for (const auto& variable : variables.tensors())
    tilewright::ops::scaled_add_(variable, gradients[variable], {.b = -learning_rate});
}

/// One step of training: forward, loss, backward, and `optimise(variables, gradients)`. It takes a batch of "image"s and their
/// "label"s and gives the "loss".
template <auto optimise, class Model, int batch_size, int... image_shape>
constexpr void train_step_with(tilewright::Ir& ir) {
  namespace tw = tilewright;
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {batch_size, image_shape...}, tw::float32));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {batch_size}, tw::int32));

  const auto [factories, forward] = tw::create_graph(Model{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();

  const auto forward_call = forward.bind(variables).call_with_info(images);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(forward_call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);

  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(gradient, info.inputs_dict(forward_call));
  optimise(variables, info.fwd_parent_ins_to_grad_parent_outs(forward_call, backward_call));
}
template <class Model, int batch_size, int... image_shape>
constexpr void train_step(tilewright::Ir& ir) {
  train_step_with<gradient_descent, Model, batch_size, image_shape...>(ir);
}

/// Only the forward pass: it takes "image"s and gives the model's "outputs".
template <class Model, int batch_size, int... image_shape>
constexpr void test_step(tilewright::Ir& ir) {
  namespace tw = tilewright;
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {batch_size, image_shape...}, tw::float32));
  const auto [factories, forward] = tw::create_graph(Model{}, images);
  const tw::Tensor outputs = forward.bind(factories.init()).call(images);
  tw::ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}
