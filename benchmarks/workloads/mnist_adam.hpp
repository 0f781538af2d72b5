#pragma once
// Training steps of the tutorial's network with Adam, batches of 8.
#include <tilewright/train/step.hpp>

#include "../../examples/tutorial/net.hpp"
#include "session.hpp"

/// `parameters` is a function that returns Adam's. The state stands beside its variable: fc1.weight.first_order.
template <auto parameters>
constexpr void adam_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, parameters(), {{8, 28, 28}}, {.optimiser_prefix = ""});
}

template <auto parameters>
int serve_adam(int argc, char** argv) {
  auto images = random_numbers(8, 28, 28);
  auto labels = random_labels(8);
  return serve_session<tw::Session<adam_step<parameters>>>(argc, argv, [&](auto& session, std::size_t i) {
    return session.run("image"_s = images[i], "label"_s = labels[i])["loss"_s]();
  });
}
