// Trains the network of mnist.cpp on four replicas, each with its part of a batch.
//
// test: --limit-batches 100 --threads 1
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 12 --device ipu_model
// expect: Accuracy on test set:
// test: --data $TILEWRIGHT_MNIST --limit-batches 600
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include "tutorial/net.hpp"
#include "tutorial/steps.hpp"
#include "tutorial/training.hpp"

constexpr int replicas = 4, batch_size = 8, test_batch_size = 80;

/// Gradient descent by the mean of all replicas' gradients, which is the gradient of the whole batch's mean loss.
constexpr void descend_together(const tw::NamedTensors& variables, const tw::TensorMap& gradients) {
  for (const auto& variable : variables.tensors()) {
    const auto mean = tw::ops::collectives::replicated_all_reduce(gradients[variable], {.op = tw::CollectiveOperator::mean});
    tw::ops::scaled_add_(variable, mean, {.b = -replicas * learning_rate});
  }
}
constexpr void train_on_replicas(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
  train_step_with<descend_together, Net, batch_size, 28, 28>(ir);
}

int main(int argc, char** argv) {
  return run_mnist<train_on_replicas, test_step<Net, test_batch_size, 28, 28>>(
      argc, argv, "Trains a network on MNIST, on four replicas, and tests it.", {replicas * batch_size, test_batch_size});
}
