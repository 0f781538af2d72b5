// W4 by oneDNN: forward and backward of a transformer encoder block, batch 4, sequence 128, hidden 256, 4 heads.
#include "onednn_layers.hpp"

using namespace onednn;

int main(int argc, char** argv) {
  constexpr std::int64_t rows = 4 * 128, hidden = 256;
  Network network;
  const memory x = outside({rows, hidden}), dy = outside({rows, hidden});
  LayerNorm norm1, norm2;
  Linear qkv, projection, widen, narrow;
  Attention attention({.batch = 4, .heads = 4, .sequence = 128, .size = 64});
  Gelu gelu;
  norm1.add_parameters(network, hidden), norm2.add_parameters(network, hidden);

  const auto add_x = then_add(dense({rows, hidden}));
  const memory mixed = attention.forward(network, qkv.forward(network, norm1.forward(network, x), 3 * hidden));
  const memory between = projection.forward(network, mixed, hidden, add_x, {{added_argument, x}});
  const memory inner = gelu.forward(network, widen.forward(network, norm2.forward(network, between), 4 * hidden));
  const memory y = narrow.forward(network, inner, hidden, add_x, {{added_argument, between}});

  const memory dinner = gelu.backward(network, narrow.backward(network, dy));
  const memory dbetween = norm2.backward(network, widen.backward(network, dinner));
  network.backward.add_to(dbetween, dy);
  norm1.backward(network, qkv.backward(network, attention.backward(network, projection.backward(network, dbetween))));

  auto inputs = batches(rows * hidden), gradients = batches(rows * hidden, 2000);
  const auto step = [&](std::size_t i) {
    x.set_data_handle(inputs[i % inputs.size()].data()), dy.set_data_handle(gradients[i % gradients.size()].data());
    network.forward.run(), network.backward.run();
    return data(y)[0];
  };
  return serve_network(argc, argv, network, step, [&] {
    std::vector<double> result{step(0)};
    for (const double size : network.gradient_sizes()) result.push_back(size);
    return result;
  });
}
