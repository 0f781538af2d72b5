#pragma once
// Training steps of the tutorial's network with Adam, batches of 8.
#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "session.hpp"

/// Adam for all variables; `parameters` is a function that returns its parameters.
template <auto parameters>
constexpr void adam(const tw::NamedTensors& variables, const tw::TensorMap& gradients) {
  tw::Cached<tw::optim::Adam> optimiser;
  for (const auto& [name, variable] : variables.named_tensors()) {
    const auto [factories, graph] = optimiser.create_graph(variable, variable.spec(), parameters());
    graph.bind(factories.init(name.view())).call(variable, gradients[variable]);
  }
}

template <auto parameters>
int serve_adam(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  using Session = tw::Session<train_step_with<adam<parameters>, Net, 8, 28, 28>>;
  return serve_session<Session>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
