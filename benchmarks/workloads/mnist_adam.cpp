// W1a: a training step of the tutorial's network with Adam as torch.optim.Adam does it, both moments float32, batches of 8.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

constexpr void adam(const tw::NamedTensors& variables, const tw::TensorMap& gradients) {
  constexpr tw::optim::AdamParameters parameters{.lr = 1e-3, .epsilon = 1e-8, .first_order_dtype = tw::float32};
  tw::Cached<tw::optim::Adam> optimiser;
  for (const auto& [name, variable] : variables.named_tensors()) {
    const auto [factories, graph] = optimiser.create_graph(variable, variable.spec(), parameters);
    graph.bind(factories.init(name.view())).call(variable, gradients[variable]);
  }
}

int main(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<train_step_with<adam, Net, 8, 28, 28>>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
