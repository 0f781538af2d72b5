// A training step of the tutorial's network with the Adam of its custom optimiser: first moment float16, no bias correction,
// batches of 8.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

constexpr void adam(tw::Tensor variable, tw::Tensor gradient) {
  const auto moment = [&](std::string_view name, tw::DType dtype) {
    return variable.ir().variable(tw::zeros(), variable.shape(), dtype, tw::text(variable.name(), ".", name).view());
  };
  const auto m = tw::ops::accumulate_moving_average_(moment("first_order", tw::float16), gradient, 0.9);
  const auto v = tw::ops::accumulate_moving_average_square_(moment("second_order", tw::float32), gradient, 0.999);
  tw::ops::scaled_add_(variable, tw::ops::adam_updater(m, v, {.epsilon = 1e-5}), {.b = -1e-3});
}

int main(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<train_step_with<adam, Net, 8, 28, 28>>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
