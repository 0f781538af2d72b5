// Trains a network of four linear layers to read handwritten digits, and tests it.
//
// labels: strict systems
// test: --limit-batches 400 --threads 1
// expect: These are generated digits
// expect: Epoch 1/1
// expect-regex: ^Trained 400 steps in [0-9.]+ s: [0-9]+ it/s$
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 60 --device ipu_model --epochs 2
// strict: --strict
// expect-regex: ^Trained 120 steps
// expect: Accuracy on test set:
// test: --data $TILEWRIGHT_MNIST --limit-batches 1500
// test-needs: TILEWRIGHT_MNIST
// expect: MNIST from
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
// test: --help
// expect: --limit-batches
#include "tutorial/net.hpp"
#include "tutorial/steps.hpp"
#include "tutorial/training.hpp"

int main(int argc, char** argv) {
  return run_mnist<train_step<Net, 8, 28, 28>, test_step<Net, 80, 28, 28>>(
      argc, argv, "Trains and tests a network of four linear layers on MNIST.");
}
