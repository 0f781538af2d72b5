// W3: a training step of the user guide's small network, 784-32-10, gelu after both layers, batches of 8, gradient descent.
#include "../../examples/tutorial/guide_net.hpp"
#include "session.hpp"

int main(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<train_step>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
