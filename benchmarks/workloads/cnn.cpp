// W5: a training step of a small convolutional network, 1x28x28, batches of 32, gradient descent.
#include "cnn.hpp"

#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

int main(int argc, char** argv) {
  constexpr int batch_size = 32;
  auto images = random_numbers(batch_size, 1, 28, 28);
  auto labels = random_labels(batch_size);
  return serve_session<tw::Session<train_step<ConvolutionalNet, batch_size, 1, 28, 28>>>(
      argc, argv,
      [&](auto& session, std::size_t i) { return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s](); });
}
