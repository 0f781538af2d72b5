// W1: a training step of the tutorial's network, 784-512-512-512-10 with gelu, batches of 8, gradient descent.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

int main(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<train_step<Net, 8, 28, 28>>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
