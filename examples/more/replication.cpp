// Replicas: groups of them that have variables of their own, training on parts of a batch, and tensors in parts.
//
// labels: more
// test:
// expect: ReplicaGrouping(num_replicas=8, stride=1, group_size=8, num_groups=1): all on the host (3, 3)
// expect: ReplicaGrouping(num_replicas=8, stride=1, group_size=4, num_groups=2): halves on the host (2, 3, 3)
// expect: ReplicaGrouping(num_replicas=8, stride=4, group_size=2, num_groups=4): strided on the host (4, 3, 3)
// expect: ReplicaGrouping(num_replicas=8, stride=1, group_size=1, num_groups=8): single on the host (8, 3, 3)
// expect: ReplicaGrouping(num_replicas=8, stride=1, group_size=8, num_groups=1): observed on the host (8, 3, 3)
// expect: after 20 steps, four replicas and one have the same weights: yes
// expect-regex: in a step each replica gives 192 bytes to others, in [0-9.]+ microseconds
// expect: replica 0 gathered [4, 6], replica 1 [4, 6]; each has 1 of the variable's 2 elements, now [4, 6]
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using namespace tw::literals;

/// Variables of the same shape on each of eight replicas, with one value for all of them, or one for each group.
constexpr void groups(tw::Ir& ir) {
  ir.set_replication_factor(8);
  const tw::Shape shape{3, 3};
  ir.variable(tw::ones(), shape, tw::float32, "all");
  ir.variable(tw::normal(0, 1), shape, tw::float32, "halves", {.replica_grouping = ir.replica_grouping(1, 4)});
  ir.variable(tw::normal(0, 1), shape, tw::float32, "strided", {.replica_grouping = ir.replica_grouping(4)});
  ir.variable(tw::normal(0, 1), shape, tw::float32, "single", {.replica_grouping = ir.replica_grouping(1, 1)});
  ir.variable(tw::ones(), shape, tw::float32, "observed", {.retrieval_mode = tw::RetrievalMode::all_replicas});
}

constexpr int batch = 16, features = 8, targets = 4;

struct Regression : tw::Module<Regression> {
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor y) {
    const tw::Tensor weight = add_variable_input("weight", tw::normal(0, 0.1), {features, targets});
    const tw::Tensor error = x.matmul(weight) - y;
    return ops::mean(error * error);
  }
};

/// Each replica has a part of the batch; the mean of their gradients is the gradient of the whole batch's mean.
template <int replicas>
constexpr void train(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
  const auto x = ops::host_load(ir.h2d_stream("x", {batch / replicas, features}));
  const auto y = ops::host_load(ir.h2d_stream("y", {batch / replicas, targets}));
  const auto [factories, forward] = tw::create_graph(Regression{}, x, y);
  const auto variables = factories.init();
  const auto backward = tw::autodiff(forward, {.grads_required = {{forward.args()["weight"]}}});

  const auto call = forward.bind(variables).call_with_info(x, y);
  const auto info = backward.grad_graph_info();
  const auto gradient = backward.call(ir.constant(1.0), info.inputs_dict(call))[0];
  const auto mean = collectives::replicated_all_reduce(gradient, {.op = tw::CollectiveOperator::mean});
  ops::scaled_add_(variables["weight"], mean, {.b = -0.05});
}

/// A variable of which each of two replicas has a half, in streaming memory: what is gathered and changed goes back in parts.
constexpr void sharded(tw::Ir& ir) {
  ir.set_replication_factor(2);
  const tw::RemoteBuffer buffer = ir.replica_sharded_buffer({2}, tw::float32, {});
  ir.remote_replica_sharded_variable(tw::values({1, 2}), buffer, 0, "v");

  const tw::Tensor shard = ops::remote_load(buffer, 0);
  const tw::Tensor whole = collectives::replicated_all_gather(shard) + ir.constant({3, 4}, {2});
  ops::remote_store(buffer, 0, collectives::replica_sharded_slice(whole));
  ops::host_store(ir.d2h_stream("whole", whole.spec()), whole);
}

template <tw::NameText name>
void print_host_shape(const tw::ReplicaGrouping& grouping, const tw::Session<groups>& session, tw::Name<name> variable) {
  tw::Shape shape;
  const auto array = session.get_tensor_data(variable);  // a temporary array would not outlive the loop's shape
  for (const auto extent : array.shape()) shape.push_back(static_cast<std::int64_t>(extent));
  std::cout << to_text(grouping) << ": " << variable.view() << " on the host " << to_text(shape) << '\n';
}

int main() {
  const auto ir = tw::trace(groups);  // at run time, to look at it
  const tw::Session<groups> session({.seed = 1});
  print_host_shape(ir->replica_grouping(), session, "all"_s);
  print_host_shape(ir->replica_grouping(1, 4), session, "halves"_s);
  print_host_shape(ir->replica_grouping(4), session, "strided"_s);
  print_host_shape(ir->replica_grouping(1, 1), session, "single"_s);
  print_host_shape(ir->replica_grouping(), session, "observed"_s);

  xt::xtensor<float, 2> x({batch, features}), y({batch, targets});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7) / 7;
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(i % 5) / 5;
  tw::Session<train<1>, tw::ipu_model> one({.seed = 1});
  tw::Session<train<4>, tw::ipu_model> four({.seed = 1});
  const xt::xtensor<float, 3> x_parts = xt::reshape_view(x, {4, batch / 4, features});
  const xt::xtensor<float, 3> y_parts = xt::reshape_view(y, {4, batch / 4, targets});
  for (int step = 0; step < 20; ++step) {
    one.run("x"_s = x, "y"_s = y);
    four.run("x"_s = x_parts, "y"_s = y_parts);
  }
  const bool same = xt::allclose(one.get_tensor_data("weight"_s), four.get_tensor_data("weight"_s), 1e-5);
  std::cout << "after 20 steps, four replicas and one have the same weights: " << (same ? "yes" : "no") << '\n';

  constexpr auto traffic = tw::Session<train<4>, tw::ipu_model>::plan.collectives;
  std::cout << "in a step each replica gives " << traffic.bytes << " bytes to others, in "
            << tw::ipu_model.seconds(traffic.cycles) * 1e6 << " microseconds\n";

  tw::Session<sharded> halves;
  const auto whole = halves.run()["whole"_s];
  std::cout << "replica 0 gathered [" << whole(0, 0) << ", " << whole(0, 1) << "], replica 1 [" << whole(1, 0) << ", "
            << whole(1, 1) << "]; each has " << halves.plan.variables[0].spec.nelms() << " of the variable's 2 elements, now ["
            << halves.get_tensor_data("v"_s)(0) << ", " << halves.get_tensor_data("v"_s)(1) << "]\n";
}
