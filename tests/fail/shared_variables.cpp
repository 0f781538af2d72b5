// labels: none
// Replicas that would go on with different values of a variable that they share.
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/adam.hpp>
#include <tilewright/optim/sgd.hpp>

#include "traced.hpp"

namespace collectives = tw::ops::collectives;

struct Model : tw::Module<Model> {
  BOOST_HANA_DEFINE_STRUCT(Model, (tw::layers::Linear<1, {.bias = false}>, fc));
  constexpr Tensor build(Tensor x) {
    const Tensor y = fc(x);
    return ops::mean(y * y);
  }
};

/// A step on four replicas: their gradients, changed by a function, go to an optimiser.
template <auto change, class Parameters>
constexpr void step(Ir& ir, const Parameters& parameters) {
  ir.set_replication_factor(4);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 3}));
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto variables = factories.init();
  const auto backward = tw::autodiff(forward, {.grads_required = {{forward.args()["fc.weight"]}}});
  const auto call = forward.bind(variables).call_with_info(x);
  const Tensor gradient = change(backward.call(ir.constant(1.0), backward.grad_graph_info().inputs_dict(call))[0]);
  const Tensor weight = variables["fc.weight"];
  const auto [state, update] = tw::create_graph(typename Parameters::Optimiser(), weight, gradient.spec(), parameters);
  update.bind(state.init("state")).call(weight, gradient);
}
constexpr auto own = [](Tensor gradient) { return gradient; };
constexpr auto mean = [](Tensor gradient) {
  return collectives::replicated_all_reduce(gradient, {.op = tw::CollectiveOperator::mean});
};
constexpr auto mean_of_pairs = [](Tensor gradient) {
  return collectives::replicated_all_reduce(gradient,
                                            {.op = tw::CollectiveOperator::mean, .group = gradient.ir().replica_grouping(1, 2)});
};
Traced<[](Ir& ir) { step<mean>(ir, tw::optim::SgdParameters{.lr = 0.1}); }> compiles;
Traced<[](Ir& ir) { step<mean>(ir, tw::optim::AdamParameters{}); }> compiles_too;
Traced<[](Ir& ir) { step<tw::differs_by_replica>(ir, tw::optim::AdamParameters{}); }> compiles_with_local_steps;

// CASE sgd
// expect: ScaledAddLhsInplace.
// expect: : variable `fc.weight`, of which all 4 replicas have one value, changed by what differs by replica since
// expect: HostLoad.100 of stream `x`: the replicated_all_reduce of a gradient, or tw::differs_by_replica where it is meant,
// expect: expected
Traced<[](Ir& ir) { step<own>(ir, tw::optim::SgdParameters{.lr = 0.1}); }> sgd;

// CASE momentum
// expect: variable `fc.weight`, of which all 4 replicas have one value
Traced<[](Ir& ir) { step<own>(ir, tw::optim::SgdParameters{.lr = 0.1, .momentum = 0.9}); }> momentum;

// CASE pairs
// expect: variable `fc.weight`, of which all 4 replicas have one value, changed by what is equal within the groups 0 0 1 1 only,
// expect: since HostLoad.100 of stream `x`:
Traced<[](Ir& ir) { step<mean_of_pairs>(ir, tw::optim::SgdParameters{.lr = 0.1}); }> pairs;

/// Adam's state by the gradients of each replica, while the weight gets their mean.
constexpr void adam_of_own_gradients(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  const Tensor w = ir.variable(tw::ones(), {3}, tw::float32, "w"), copy = w * 1;
  const auto [state, update] = tw::create_graph(tw::optim::Adam(), copy, x.spec(), tw::optim::AdamParameters{});
  update.bind(state.init("state")).call(copy, x);
  ops::copy_var_update_(w, mean(copy));
}

// CASE state
// expect: in Adam_subgraph(0): variable `state.first_order`, of which all 4 replicas have one value, changed by what differs by
// expect: replica since HostLoad.100 of stream `x`:
Traced<adam_of_own_gradients> state;

/// A program of four replicas with a variable.
template <auto function>
constexpr void program(Ir& ir) {
  ir.set_replication_factor(4);
  function(ir, ir.variable(tw::zeros(), {3}, tw::float32, "w"));
}
struct Add {
  constexpr void operator()(tw::TensorByRef to, Tensor x) const { ops::accumulate_(to, x); }
};

// CASE called_graph
// expect: in Add_subgraph(0): variable `w`, of which all 4 replicas have one value, changed by what differs by replica since
// expect: HostLoad.101 of stream `x`:
Traced<program<[](Ir& ir, Tensor w) {
  const auto add = ir.create_graph(Add(), w, w.spec());
  tw::call(add, {w, ops::host_load(ir.h2d_stream("x", {3}))});
}>>
    called_graph;

// CASE loop
// expect: in Add_subgraph(0): variable `w`, of which all 4 replicas have one value, changed by what differs by replica since
// expect: HostLoad.101 of stream `x`:
Traced<program<[](Ir& ir, Tensor w) {
  const auto add = ir.create_graph(Add(), w, w.spec());
  tw::repeat(add, 3, {w, ops::host_load(ir.h2d_stream("x", {3}))});
}>>
    loop;

// CASE condition
// expect: variable `w`, of which all 4 replicas have one value, changed by what differs by replica since HostLoad.100 of stream
Traced<program<[](Ir& ir, Tensor w) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  const tw::OnlyIf scope = tw::only_if(ops::greater(ops::sum(x), 0));
  ops::accumulate_(w, ir.constant({1}, {3}));
}>>
    condition;

// CASE seeds
// expect: variable `w`, of which all 4 replicas have one value, changed by what differs by replica since HostLoad.100 of stream
// expect: `seed`:
Traced<program<[](Ir& ir, Tensor w) {
  const Tensor seed = ops::host_load(ir.h2d_stream("seed", {2}, tw::uint32));
  ops::accumulate_(w, ops::random_normal(seed, {3}));
}>>
    seeds;

// CASE sums
// expect: variable `w`, of which all 4 replicas have one value, changed by what differs by replica since
// expect: HostLoad.101 of stream `x`:
Traced<program<[](Ir& ir, Tensor w) {
  const Tensor sum = ir.variable(tw::zeros(), {3}, tw::float32, "sum");
  ops::accumulate_(tw::differs_by_replica(sum), ops::host_load(ir.h2d_stream("x", {3})));
  ops::accumulate_(w, sum);
}>>
    sums;

// CASE remote
// expect: RemoteStore.
// expect: : variable `row`, of which all 4 replicas have one value, changed by what differs by replica since HostLoad.
Traced<program<[](Ir& ir, Tensor) {
  const auto buffer = ir.remote_buffer({3}, tw::float32, 2);
  ir.remote_variable(tw::zeros(), buffer, 1, "row");
  ops::remote_store(buffer, 1, ops::remote_load(buffer, 1) + ops::host_load(ir.h2d_stream("x", {3})));
}>>
    remote;
