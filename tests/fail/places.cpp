// labels: clang
// Errors of calls that return classes with destructors: the compiler's stack names the user's line.
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/random/random.hpp>
#include <tilewright/train/minimise.hpp>
#include <tilewright/train/step.hpp>

#include "traced.hpp"

struct NoBuild : tw::Module<NoBuild> {};
using Model = tw::layers::Linear<5>;
constexpr tw::optim::SgdParameters sgd{.lr = 0.1};
constexpr Tensor input(Ir& ir) { return ops::host_load(ir.h2d_stream("x", {2, 4})); }

// CASE step_alone
// expect: train_step: AdamW as optimiser
// expect-place: train_step(
constexpr void step_alone(Ir& ir) { tw::train::train_step(ir, Model{}, tw::optim::AdamW{}, {{2, 4}}); }
Traced<step_alone> traced_step_alone;

// CASE step_with_a_result
// expect: minimise: 0 micro-batches
// expect-place: minimise(
constexpr void step_with_a_result(Ir& ir) {
  constexpr auto mean = [](Model& net, Tensor x) { return ops::mean(net(x)); };
  const auto variables = tw::train::minimise(ir, Model{}, mean, sgd, {{"x", {2, 4}}}, {.micro_batches = 0});
}
Traced<step_with_a_result> traced_step_with_a_result;

// CASE graph_alone
// expect: Module: NoBuild has no build for 1 arguments
// expect-place: create_graph(
constexpr void graph_alone(Ir& ir) { tw::create_graph(NoBuild{}, input(ir)); }
Traced<graph_alone> traced_graph_alone;

// CASE graph_of_a_variable
// expect: Module: NoBuild has no build for 1 arguments
// expect-place: create_graph(
constexpr void graph_of_a_variable(Ir& ir) {
  const NoBuild model;
  const auto [factories, graph] = model.create_graph(input(ir));
}
Traced<graph_of_a_variable> traced_graph_of_a_variable;

// CASE graph_of_a_cache
// expect: Module: NoBuild has no build for 1 arguments
// expect-place: create_graph(
constexpr void graph_of_a_cache(Ir& ir) {
  tw::GraphCache cache;
  const tw::CreatedGraph created = cache.create_graph(NoBuild{}, input(ir));
}
Traced<graph_of_a_cache> traced_graph_of_a_cache;

// CASE call_with_outputs
// expect: call of Linear_subgraph(0): 2 tensors for 1 unbound inputs
// expect-place: .call(
constexpr void call_with_outputs(Ir& ir) {
  const auto [factories, net] = tw::create_graph(Model{}, input(ir));
  const auto bound = net.bind(factories.init());
  const auto outputs = bound.call(ops::init(ir, {2, 4}, tw::float32), ops::init(ir, {2, 4}, tw::float32));
}
Traced<call_with_outputs> traced_call_with_outputs;

// CASE gradient
// expect: no gradient reaches Tensor[float32 (2, 4)]
// expect-place: autodiff(
constexpr void gradient(Ir& ir) {
  const auto graph = ir.create_graph([](Tensor x) { return x.detach(); }, input(ir));
  const auto backward = tw::autodiff(graph, {.grads_required = graph.inputs()});
}
Traced<gradient> traced_gradient;

// CASE variables_twice
// expect: init: `bias` exists already
// expect-place: second = factories.init()
constexpr void variables_twice(Ir& ir) {
  const auto [factories, net] = tw::create_graph(Model{}, input(ir));
  const auto first = factories.init();
  const auto second = factories.init();
}
Traced<variables_twice> traced_variables_twice;

// CASE parts
// expect: into 3 parts along axis 1: a number that divides 4 expected
// expect-place: split(
constexpr void parts(Ir& ir) { const auto columns = ops::split(input(ir), 3, 1); }
Traced<parts> traced_parts;

// CASE seeds
// expect: split_random_seed: 0 seeds
// expect-place: split_random_seed(
constexpr void seeds(Ir& ir) {
  const auto split = ops::split_random_seed(ir.variable(tw::values({1, 2}), {2}, tw::uint32, "seed"), 0);
}
Traced<seeds> traced_seeds;
