#pragma once
// A program with joined ops against the same program with each op as a step of its own.
#include <random>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"

/// Runs a program some times from random variables, and gives its outputs. The variables are multiples of `step`.
template <auto build, tw::Target target>
Values results(int threads, double scale, double step = 0x1p-30) {
  TestSession<build, target> session({.threads = threads});
  Values inputs;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  for (std::size_t i = 0; i < session.plan.variables.size(); ++i)
    for (std::int64_t k = 0; k < session.plan.variables[i].spec.nelms(); ++k)
      inputs[std::string(session.plan.variable_name(i))].push_back(std::round(uniform(random) / step) * step);
  write_variables(session, inputs);
  Values outputs;
  for (int i = 0; i < 3; ++i) outputs = run(session);
  return outputs;
}
template <auto build, tw::Target target>
void check_fusion(double tolerance, double scale = 1) {
  const Values expected = results<build, target.without_fusion()>(1, scale);
  for (int threads : {1, 3}) {
    const Values fused = results<build, target>(threads, scale);
    REQUIRE(fused.size() == expected.size());
    for (const auto& [name, value] : expected) {
      INFO(name << ", " << threads << " threads");
      CHECK(difference(fused.at(name), value) < tolerance);
    }
  }
}

/// The same bit for bit. The variables are multiples of 1/16, so that sums of products are exact in any order.
template <auto build, tw::Target target>
void check_bits() {
  const Values expected = results<build, target.without_fusion()>(1, 1, 1.0 / 16);
  for (int threads : {1, 3}) {
    const Values fused = results<build, target>(threads, 1, 1.0 / 16);
    for (const auto& [name, value] : expected) {
      INFO(name << ", " << threads << " threads");
      CHECK(difference(fused.at(name), value) == 0);
    }
  }
}

using support::variable;

/// Forward, backward and an update of all weights of a model, and what they are afterwards.
template <class Model>
constexpr void train(tw::Tensor x, auto update) {
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto backward = tw::autodiff(forward);
  const auto weights = factories.init();
  const auto call = forward.bind(weights).call_with_info(x);
  store("y", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(call.output(0) * 0.125, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  for (const auto& [name, weight] : weights.named_tensors()) {
    update(weight, gradients[weight] * 0.0625);
    store(tw::text("after ", name).view(), weight);
  }
}
constexpr void descend(tw::Tensor weight, tw::Tensor gradient) { tw::ops::scaled_add_(weight, gradient, {.b = -0.125}); }
