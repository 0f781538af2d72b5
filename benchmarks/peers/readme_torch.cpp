// The README's program with libtorch. `./dev bench compiling` compiles it.
#include <torch/torch.h>

#include <cstdio>

#include "made_up_digits.hpp"

namespace nn = torch::nn;

struct Net : nn::Module {
  nn::Linear fc1 = register_module("fc1", nn::Linear(pixels, 512));
  nn::Linear fc2 = register_module("fc2", nn::Linear(512, 512));
  nn::Linear fc3 = register_module("fc3", nn::Linear(512, classes));
  torch::Tensor forward(torch::Tensor x) {
    x = torch::gelu(fc1(x), "tanh");
    return fc3(torch::gelu(fc2(x), "tanh"));
  }
};

int main() {
  auto train = made_up_digits(10'000, 1), test = made_up_digits(1'000, 2);
  const auto images_of = [](Digits& digits) {
    return torch::from_blob(digits.images.data(), {static_cast<std::int64_t>(digits.labels.size()), pixels});
  };
  const auto labels_of = [](Digits& digits) {
    return torch::from_blob(digits.labels.data(), {static_cast<std::int64_t>(digits.labels.size())}, torch::kInt64);
  };
  Net net;
  torch::optim::SGD optimiser(net.parameters(), 0.05);
  const auto images = images_of(train), labels = labels_of(train);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : torch::randperm(images.size(0)).split(8)) {
      optimiser.zero_grad();
      nn::functional::cross_entropy(net.forward(images.index({batch})), labels.index({batch})).backward();
      optimiser.step();
    }
  const auto right = net.forward(images_of(test)).argmax(1).eq(labels_of(test)).to(torch::kFloat32).mean().item<float>();
  std::printf("%.1f %% of the test set are right\n", 100 * static_cast<double>(right));
}
