// Trains the network of mnist.cpp on four replicas, each with its part of a batch.
//
// labels: more
// test: --limit-batches 100 --threads 1
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 12 --device ipu_model
// expect: Accuracy on test set:
// test: --data $TILEWRIGHT_MNIST --limit-batches 600
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

/// Gradient descent by the mean of all replicas' gradients, which is the gradient of the whole batch's mean loss.
constexpr void train_on_replicas(tw::Ir& ir) {
  constexpr int replicas = 4;
  ir.set_replication_factor(replicas);
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = replicas * learning_rate}, {{8, 28, 28}});
}

int main(int argc, char** argv) {
  return run_mnist<train_on_replicas, test_step<Net, 80, 28, 28>>(argc, argv,
                                                                  "Trains a network on MNIST, on four replicas, and tests it.");
}
