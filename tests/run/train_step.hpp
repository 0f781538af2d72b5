#pragma once
#include "../static/models.hpp"
#include "elements.hpp"

/// Classifies a batch of images, stores the loss and takes a step of gradient descent.
template <class Model, int batch, int... image>
constexpr void train_step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("image", {batch, image...}));
  const auto label = tw::ops::host_load(ir.h2d_stream("label", {batch}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto variables = factories.init();
  const auto backward = tw::autodiff(forward);
  const auto call = forward.bind(variables).call_with_info(x);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(call.output(0), label);
  store("loss", loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call,
                                                                 backward.call_with_info({gradient}, info.inputs_dict(call)));
  for (tw::Tensor variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -0.1});
}
