// The smaller network of PopXL's user guide, in its plain style: graph inputs, graphs and calls made by hand, and the
// gradient graph of each layer called explicitly. It teaches what tw::layers::Linear and tw::train::train_step do by themselves.
//
// labels: more
// test: --limit-batches 400 --threads 1
// expect: These are generated digits
// expect-regex: ^Trained 400 steps in [0-9.]+ s: [0-9]+ it/s$
// expect-regex: ^Accuracy on test set: [3-9][0-9]\.[0-9]{2}%$
// test: --data $TILEWRIGHT_MNIST --limit-batches 3000 --device ipu_model
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include "../tutorial/guide_net.hpp"
#include "../tutorial/training.hpp"

int main(int argc, char** argv) {
  return run_mnist<train_step, test_step>(argc, argv, "Trains and tests a network of two linear layers on MNIST.");
}
