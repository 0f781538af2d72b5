// W1a: a training step of the tutorial's network with Adam as torch.optim.Adam does it, both moments float32, batches of 8.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

/// "Adam: A Method for Stochastic Optimization", arXiv 1412.6980, algorithm 1.
constexpr void adam(tw::Tensor variable, tw::Tensor gradient) {
  tw::Ir& ir = variable.ir();
  const auto state = [&](std::string_view name, const tw::Shape& shape) {
    return ir.variable(tw::zeros(), shape, tw::float32, tw::text(variable.name(), ".", name).view());
  };
  const auto m = tw::ops::accumulate_moving_average_(state("first_moment", variable.shape()), gradient, 0.9);
  const auto v = tw::ops::accumulate_moving_average_square_(state("second_moment", variable.shape()), gradient, 0.999);
  const tw::AdamOptions options{.time_step = state("step", {}), .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
  tw::ops::scaled_add_(variable, tw::ops::adam_updater(m, v, options), {.b = -1e-3});
}

int main(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<train_step_with<adam, Net, 8, 28, 28>>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
