// Trains a network of four linear layers to read handwritten digits, and tests it.
//
// test: --limit-batches 400 --threads 1
// expect: These are generated digits
// expect: Epoch 1/1
// expect-regex: ^Trained 400 steps in [0-9.]+ s: [0-9]+ it/s$
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 60 --device ipu_model --epochs 2
// expect-regex: ^Trained 120 steps
// expect: Accuracy on test set:
// test: --data $TILEWRIGHT_MNIST --limit-batches 1500
// test-needs: TILEWRIGHT_MNIST
// expect: MNIST from
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
// test: --help
// expect: --limit-batches
#include "tutorial/net.hpp"
#include "tutorial/training.hpp"

constexpr int train_batch_size = 8;
constexpr int test_batch_size = 80;
constexpr double learning_rate = 0.05;

/// One step of training: forward, loss, backward, and gradient descent.
constexpr void train_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {train_batch_size, 28, 28}, tw::float32));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {train_batch_size}, tw::int32));

  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();

  const auto forward_call = forward.bind(variables).call_with_info(images);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(forward_call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);

  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(gradient, info.inputs_dict(forward_call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(forward_call, backward_call);
  for (const auto& variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -learning_rate});
}

constexpr void test_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {test_batch_size, 28, 28}, tw::float32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const tw::Tensor outputs = forward.bind(factories.init()).call(images);
  tw::ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}

int main(int argc, char** argv) {
  return run_mnist<train_step, test_step>(argc, argv, "Trains and tests a network of four linear layers on MNIST.",
                                          {train_batch_size, test_batch_size});
}
