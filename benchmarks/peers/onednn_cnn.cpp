// W5 by oneDNN: a training step of a small convolutional network, 1x28x28, batches of 32, gradient descent.
#include "onednn_layers.hpp"

using namespace onednn;

int main(int argc, char** argv) {
  constexpr std::int64_t batch = 32, pixels = 28 * 28;
  Network network;
  const memory x = outside({batch, 1, 28, 28});
  ConvRelu conv1, conv2;
  MaxPool pool1, pool2;
  Linear linear;

  const memory half = pool1.forward(network, conv1.forward(network, x, 32, 3));
  const memory quarter = pool2.forward(network, conv2.forward(network, half, 64, 3));
  const memory scores = linear.forward(network, quarter, 10);

  const memory gradient = zeros(scores.get_desc());
  const memory dhalf = conv2.backward(network, pool2.backward(network, linear.backward(network, gradient)));
  conv1.backward(network, pool1.backward(network, dhalf), false);
  network.update(0.05f);

  auto images = batches(batch * pixels);
  const auto labels = label_batches(batch);
  const auto step = [&](std::size_t i) {
    x.set_data_handle(images[i % images.size()].data());
    network.forward.run();
    const float loss = cross_entropy(scores, labels[i % labels.size()], gradient);
    network.backward.run();
    return loss;
  };
  return serve_network(argc, argv, network, step, [&] { return std::vector<double>{step(0), step(1), step(2)}; });
}
