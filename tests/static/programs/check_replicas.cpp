// labels: none
// Variables that replicas share: which changes keep them equal, and which are errors.
#include "tilewright/transform/check_replicas.hpp"

#include "../../support/same.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using tw::Graph, tw::Ir, tw::ReplicaGrouping, tw::Shape, tw::Tensor, tw::Text;
using Numbers = tw::List<int>;

// ---- partitions of replicas

/// What a collective in groups of `size` replicas, `stride` apart, makes of tensors that are equal in blocks.
constexpr Numbers blocks_after(Numbers blocks, std::int64_t stride, std::int64_t size, bool shares) {
  const auto replicas = static_cast<std::int64_t>(blocks.size());
  tw::detail::ReplicaPartitions partitions(replicas);
  return partitions[partitions.of_group(partitions.of_labels(std::move(blocks)), {replicas, stride, size}, shares)];
}
static_assert(blocks_after({0, 1, 2, 3}, 1, 4, false) == Numbers{0, 0, 0, 0});
static_assert(blocks_after({0, 1, 2, 3}, 1, 2, false) == Numbers{0, 0, 1, 1});
static_assert(blocks_after({0, 0, 1, 1}, 2, 2, false) == Numbers{0, 0, 0, 0}, "rows, then columns");
static_assert(blocks_after({0, 1, 0, 1}, 2, 2, false) == Numbers{0, 1, 0, 1});
static_assert(blocks_after({0, 1, 1, 0}, 1, 2, false) == Numbers{0, 0, 1, 1}, "results depend on the order of members");
static_assert(blocks_after({0, 0, 0, 0}, 1, 2, false) == Numbers{0, 0, 0, 0});
static_assert(blocks_after({0, 1, 2, 3}, 1, 4, true) == Numbers{0, 1, 2, 3});
static_assert(blocks_after({0, 0, 1, 1}, 2, 2, true) == Numbers{0, 0, 1, 1}, "two groups with equal tensors, each in two shares");
static_assert(blocks_after({0, 0, 0, 0, 0, 0, 0, 0}, 1, 4, true) == Numbers{0, 1, 2, 3, 0, 1, 2, 3});

constexpr Numbers slices_of(Numbers blocks, std::int64_t stride, std::int64_t size) {
  const auto replicas = static_cast<std::int64_t>(blocks.size());
  tw::detail::ReplicaPartitions partitions(replicas);
  return partitions[partitions.of_slices(partitions.of_labels(std::move(blocks)), {replicas, stride, size})];
}
static_assert(slices_of({0, 0, 0, 0}, 1, 2) == Numbers{0, 1, 0, 1});
static_assert(slices_of({0, 0, 1, 1}, 2, 2) == Numbers{0, 0, 1, 1});
static_assert(slices_of({0, 1, 2, 3}, 4, 1) == Numbers{0, 1, 2, 3});

constexpr Numbers refined(Numbers a, Numbers b) {
  tw::detail::ReplicaPartitions partitions(static_cast<std::int64_t>(a.size()));
  const int first = partitions.of_labels(std::move(a)), second = partitions.of_labels(std::move(b));
  return partitions[partitions.refined(first, second)];
}
static_assert(refined({0, 0, 1, 1}, {0, 1, 0, 1}) == Numbers{0, 1, 2, 3});
static_assert(refined({0, 0, 1, 1}, {0, 0, 0, 0}) == Numbers{0, 0, 1, 1});
static_assert(refined({0, 0, 0, 1}, {7, 7, 5, 5}) == Numbers{0, 0, 1, 2});

// ---- programs of four replicas

constexpr Text failure_of(auto program, std::int64_t replicas = 4) {
  Ir ir(tw::OnError::record);
  ir.set_replication_factor(replicas);
  program(ir);
  tw::check_replicas(ir);
  return ir.failure();
}
constexpr Tensor load(Ir& ir, std::string_view name, const Shape& shape = {3}) {
  return ops::host_load(ir.h2d_stream(name, shape));
}
constexpr Tensor variable(Ir& ir, std::string_view name, const tw::VariableOptions& options = {}) {
  return ir.variable(tw::zeros(), {3}, tw::float32, name, options);
}
constexpr Tensor mean(Tensor t, const ReplicaGrouping& group = {}) {
  return collectives::replicated_all_reduce(t, {.op = tw::CollectiveOperator::mean, .group = group});
}
/// The failure of a program without its end, which is the same for all.
constexpr Text error_of(auto program, std::int64_t replicas = 4) {
  constexpr std::string_view end =
      ": the replicated_all_reduce of a gradient, or tw::differs_by_replica where it is meant, expected";
  const Text failure = failure_of(program, replicas);
  if (!failure.view().ends_with(end)) return tw::text("no such error, but ", failure);
  return failure.view().substr(0, failure.size() - end.size());
}

// ---- changes that keep variables equal

static_assert(failure_of([](Ir& ir) { ops::accumulate_(variable(ir, "w"), mean(load(ir, "x"))); }).empty());
static_assert(failure_of([](Ir& ir) {
                ops::accumulate_(variable(ir, "w"), ops::sum(collectives::replicated_all_gather(
                                                                 load(ir, "x"), {.output_shape = tw::GatheredShape::new_axis}),
                                                             {0}));
              }).empty());
static_assert(failure_of([](Ir& ir) {
                const Tensor share = collectives::replicated_reduce_scatter(
                    load(ir, "x"), {.configure_output_for_replicated_tensor_sharding = true});
                ops::accumulate_(variable(ir, "w"), collectives::replicated_all_gather(share * 2));
              }).empty());
static_assert(failure_of([](Ir& ir) {
                const Tensor x = load(ir, "x") * 2;
                collectives::replicated_all_reduce_(x);
                ops::accumulate_(variable(ir, "w"), x);
              }).empty(),
              "in place");
static_assert(failure_of([](Ir& ir) {
                const Tensor x = load(ir, "x", {6}) * 2, part = ops::slice_(x, {3}, {6});
                collectives::replicated_all_reduce_(part);
                ops::accumulate_(variable(ir, "w"), part);
              }).empty(),
              "a part of a tensor, in place");
static_assert(failure_of([](Ir& ir) {
                const Tensor of_rows = mean(load(ir, "x"), ir.replica_grouping(1, 2));
                ops::accumulate_(variable(ir, "w"), mean(of_rows, ir.replica_grouping(2, 2)));
              }).empty(),
              "rows, then columns");
static_assert(failure_of([](Ir& ir) {
                const Tensor rate = load(ir, "rate", {});
                ops::scaled_add_(variable(ir, "w"), mean(load(ir, "x")), {.b = -rate});
              }).empty(),
              "a rate that the host gives");
static_assert(failure_of([](Ir& ir) {
                const auto pairs = ir.replica_grouping(1, 2);
                const Tensor w = variable(ir, "w", {.replica_grouping = pairs}), gradient = load(ir, "x") * w;
                ops::accumulate_(w, mean(gradient, pairs));
                ops::accumulate_(w, mean(gradient));
                ops::accumulate_(variable(ir, "own", {.replica_grouping = ir.replica_grouping(1, 1)}), gradient);
                ops::accumulate_(variable(ir, "all"), mean(w));
              }).empty(),
              "groups");
static_assert(failure_of([](Ir& ir) {
                const Tensor shard = ir.replica_sharded_variable(tw::zeros(), {3, 4}, tw::float32, "w", {.shard_over = 2});
                const auto copies = ir.replica_grouping(1, 2);
                const Tensor gradient = collectives::replicated_all_gather(shard, {.group = copies}) * load(ir, "x", {3, 4});
                ops::accumulate_(shard, collectives::replica_sharded_slice(mean(gradient), copies));
              }).empty(),
              "two copies of two shards");
static_assert(failure_of([](Ir& ir) {
                const auto buffer = ir.remote_buffer({3}, tw::float32, 2);
                ir.remote_variable(tw::zeros(), buffer, 0, "w");
                const Tensor w = ops::remote_load(buffer, 0), x = load(ir, "x");
                ops::remote_store(buffer, 1, x);  // a row that is no variable
                ops::remote_store(buffer, 0, w + mean(ops::remote_load(buffer, 1)));
              }).empty(),
              "remote memory");
static_assert(failure_of([](Ir& ir) {
                const Tensor w = variable(ir, "w"), sum = variable(ir, "sum");
                const Graph add = ir.create_graph([](tw::TensorByRef to, Tensor x) { ops::accumulate_(to, x); }, sum,
                                                  tw::TensorSpec{{3}, tw::float32});
                tw::repeat(add, 4, {sum, load(ir, "x")});
                ops::accumulate_(w, mean(sum));
                ops::accumulator_zero_(sum);
              }).empty(),
              "sums of a run");
static_assert(failure_of([](Ir& ir) {
                const Tensor w = variable(ir, "w");
                const Graph step = ir.create_graph([](tw::TensorByRef to, Tensor x) { ops::scaled_add_(to, to * x); }, w,
                                                   tw::TensorSpec{{3}, tw::float32});
                tw::repeat(step, 4, {w, load(ir, "x")});
                ops::copy_var_update_(w, mean(w));
              }).empty(),
              "local steps, of which the run takes means");
static_assert(failure_of([](Ir& ir) {
                const Tensor w = variable(ir, "w"), gradient = mean(load(ir, "x"));
                const Tensor is_finite = ops::isfinite(ops::sum(gradient));
                const tw::OnlyIf scope = tw::only_if(is_finite);
                ops::accumulate_(w, gradient);
              }).empty(),
              "a condition that is equal on all replicas");
static_assert(failure_of([](Ir& ir) {
                const Tensor w = variable(ir, "w", {.retrieval_mode = tw::RetrievalMode::all_replicas});
                ops::accumulate_(w, load(ir, "x"));
              }).empty(),
              "the host reads each replica's");
static_assert(failure_of([](Ir& ir) { ops::accumulate_(variable(ir, "w"), load(ir, "x")); }, 1).empty());

// ---- what is meant to differ

static_assert(failure_of([](Ir& ir) { ops::accumulate_(variable(ir, "w"), tw::differs_by_replica(load(ir, "x"))); }).empty());
static_assert(failure_of([](Ir& ir) { ops::accumulate_(tw::differs_by_replica(variable(ir, "w")), load(ir, "x")); }).empty());
static_assert(failure_of([](Ir& ir) {
                const Tensor w = variable(ir, "w"), velocity = variable(ir, "velocity");
                const Tensor gradient = tw::differs_by_replica(w * load(ir, "x"));
                ops::scaled_add_(velocity, gradient, {.a = 0.9});
                ops::scaled_add_(w, velocity, {.b = -0.1});
              }).empty(),
              "what is computed from it");
static_assert(failure_of([](Ir& ir) {
                const Tensor sum = variable(ir, "sum");
                const Graph add = ir.create_graph(
                    [](tw::TensorByRef to, Tensor x) { ops::accumulate_(tw::differs_by_replica(to), x); }, sum,
                    tw::TensorSpec{{3}, tw::float32});
                tw::repeat(add, 4, {sum, load(ir, "x")});
                ops::accumulate_(variable(ir, "w"), mean(sum));
              }).empty(),
              "in a loop");
static_assert(failure_of([](Ir& ir) {
                const auto download = tw::ExecutionContext::WeightsToHostFragment;
                const Tensor sum = variable(ir, "sum"), total = variable(ir, "total");
                ops::accumulate_(tw::differs_by_replica(sum), load(ir, "x"));
                const auto scope = tw::execution_context(ir, download);
                ops::copy_var_update_(total, mean(sum));
              }).empty(),
              "before the download");

/// What the program computes is what it computes without the op, which is gone when it is planned.
constexpr auto local_step = [](Ir& ir) {
  const Tensor w = variable(ir, "w");
  ops::accumulate_(tw::differs_by_replica(w), tw::differs_by_replica(load(ir, "x")));
};
constexpr Text planned(auto program, std::int64_t replicas) {
  Ir ir;
  ir.set_replication_factor(replicas);
  program(ir);
  tw::check_replicas(ir);
  return tw::print_schedule(ir.main_graph());
}
TW_SAME(planned(local_step, 1),
        "Graph : \n  () -> () {\n    HostLoad.100 () -> (%1 [(3,) float32])\n"
        "    Accumulate.101 (%2 [(3,) float32], %1 [(3,) float32]) -> (%3 [(3,) float32])\n  }\n");
TW_SAME(planned(local_step, 2),
        "Graph : \n  () -> () {\n    DiffersByReplica.100 (%1 [(3,) float32]) -> (%2 [(3,) float32])\n"
        "    HostLoad.101 () -> (%3 [(3,) float32])\n"
        "    DiffersByReplica.102 (%3 [(3,) float32]) -> (%4 [(3,) float32])\n"
        "    Accumulate.103 (%1 [(3,) float32], %3 [(3,) float32]) -> (%5 [(3,) float32])\n  }\n");

// ---- errors

TW_SAME(error_of([](Ir& ir) {
          const Tensor w = ir.variable(tw::zeros(), {3}, tw::float32, "layer.weight");
          ops::scaled_add_(w, load(ir, "x") * w, {.b = -0.1});
        }),
        "ScaledAddLhsInplace.102: variable 'layer.weight', of which all 4 replicas have one value, changed by what differs by "
        "replica since HostLoad.100 of stream 'x'");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w"), sum = variable(ir, "sum");
          ops::accumulate_(tw::differs_by_replica(sum), load(ir, "x"));
          ops::accumulate_(w, sum);
        }),
        "Accumulate.103: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.101 of stream 'x'",
        "a sum of which no mean was taken");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w");
          ops::accumulate_(w, mean(load(ir, "x"), ir.replica_grouping(2, 2)));
        }),
        "Accumulate.102: variable 'w', of which all 4 replicas have one value, changed by what is equal within the groups 0 1 0 "
        "1 only, since HostLoad.100 of stream 'x'",
        "smaller groups");
TW_SAME(error_of([](Ir& ir) {
          const auto pairs = ir.replica_grouping(1, 2);
          const Tensor w = variable(ir, "w", {.replica_grouping = pairs});
          ops::accumulate_(w, mean(load(ir, "x"), ir.replica_grouping(2, 2)));
        }),
        "Accumulate.102: variable 'w', of which the replicas of each group, 0 0 1 1, have one value, changed by what differs by "
        "replica since HostLoad.100 of stream 'x'",
        "other groups");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w", {.replica_grouping = ir.replica_grouping(1, 2)});
          ops::accumulate_(variable(ir, "all"), w);
        }),
        "Accumulate.100: variable 'all', of which all 4 replicas have one value, changed by what is equal within the groups 0 0 "
        "1 1 only, since variable 'w'",
        "a group's values");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w");
          ops::accumulate_(w, collectives::replicated_reduce_scatter(load(ir, "x", {12})));
        }),
        "Accumulate.102: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "ReplicatedReduceScatter.101",
        "parts");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w");
          ops::accumulate_(w, collectives::replicated_slice(ir.constant({1}, {12})));
        }),
        "Accumulate.101: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "ReplicatedReduceScatter.100",
        "slices");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w"), seed = ops::host_load(ir.h2d_stream("seed", {2}, tw::uint32));
          ops::accumulate_(w, ops::random_normal(seed, {3}));
        }),
        "Accumulate.102: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.100 of stream 'seed'",
        "seeds");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w");
          const auto step = ir.create_graph([](tw::TensorByRef to, Tensor x) { ops::scaled_add_(to, x, {.b = -0.1}); }, w,
                                            tw::TensorSpec{{3}, tw::float32});
          const auto outer = ir.create_graph([&](tw::TensorByRef to, Tensor x) { tw::call(step, {to, x * 2}); }, w,
                                             tw::TensorSpec{{3}, tw::float32});
          tw::call(outer, {w, mean(load(ir, "y"))});
          tw::call(outer, {w, load(ir, "x")});
        }),
        "ScaledAddLhsInplace.100 in graph_subgraph(0): variable 'w', of which all 4 replicas have one value, changed by what "
        "differs by replica since HostLoad.106 of stream 'x'",
        "called graphs");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w"), v = variable(ir, "v"), u = variable(ir, "u");
          const auto step = ir.create_graph(
              [](tw::TensorByRef first, tw::TensorByRef second, tw::TensorByRef third, Tensor x) {
                ops::accumulate_(first, second);
                ops::accumulate_(second, third);
                ops::copy_var_update_(third, x);
              },
              w, v, u, tw::TensorSpec{{3}, tw::float32});
          tw::repeat(step, 3, {w, v, u, load(ir, "x")});
        }),
        "Accumulate.100 in graph_subgraph(0): variable 'w', of which all 4 replicas have one value, changed by what differs by "
        "replica since HostLoad.103 of stream 'x'",
        "a loop, in whose third iteration");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w"), v = variable(ir, "v", {.retrieval_mode = tw::RetrievalMode::all_replicas});
          ops::accumulate_(w, v);
          ops::accumulate_(v, load(ir, "x"));
        }),
        "Accumulate.100: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.101 of stream 'x'",
        "the second run");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w");
          const Tensor is_positive = ops::greater(ops::sum(load(ir, "x")), 0);
          const tw::OnlyIf scope = tw::only_if(is_positive);
          ops::accumulate_(w, ir.constant({1}, {3}));
        }),
        "Accumulate.104 in only_if_subgraph(0): variable 'w', of which all 4 replicas have one value, changed by what differs by "
        "replica since HostLoad.100 of stream 'x'",
        "a condition");
TW_SAME(error_of([](Ir& ir) {
          const auto buffer = ir.remote_buffer({3}, tw::float32, 2);
          ir.remote_variable(tw::zeros(), buffer, 1, "w");
          ops::remote_store(buffer, 1, ops::remote_load(buffer, 1) + load(ir, "x"));
        }),
        "RemoteStore.103: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.101 of stream 'x'",
        "remote");
TW_SAME(error_of([](Ir& ir) {
          const auto buffer = ir.remote_buffer({3}, tw::float32, 2);
          ir.remote_variable(tw::zeros(), buffer, 1, "w");
          const Tensor offset = ops::host_load(ir.h2d_stream("offset", {}, tw::int32));
          ops::remote_store(buffer, offset, load(ir, "x"));
        }),
        "RemoteStore.102: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.101 of stream 'x'",
        "remote, an offset");
TW_SAME(error_of([](Ir& ir) {
          const Tensor shard = ir.replica_sharded_variable(tw::zeros(), {6}, tw::float32, "w", {.shard_over = 2});
          ops::accumulate_(shard, load(ir, "x"));
        }),
        "Accumulate.101: variable 'w', of which the replicas of each group, 0 1 0 1, have one value, changed by what differs by "
        "replica since HostLoad.100 of stream 'x'",
        "two copies of shards");
TW_SAME(error_of([](Ir& ir) {
          const Tensor w = variable(ir, "w"), x = load(ir, "x", {}), y = load(ir, "y", {});
          const Graph forward = ir.create_graph(
              [](Tensor weight, Tensor in, Tensor target) {
                const Tensor error = weight * in - target;
                return ops::mean(error * error);
              },
              w, x, y);
          const auto call = tw::call_with_info(forward, {w, x, y});
          const auto backward = tw::autodiff(forward, {.grads_required = {{forward.input(0)}}});
          ops::scaled_add_(w, tw::call(backward.graph(), ir.constant(1.0), backward.inputs_dict(call))[0], {.b = -0.1});
        }),
        "ScaledAddLhsInplace.115: variable 'w', of which all 4 replicas have one value, changed by what differs by replica since "
        "HostLoad.100 of stream 'x'",
        "scalars as data");

// ---- weights that are divided among the replicas of a group

/// A step on two groups of two replicas: each group has a part of the batch, and each of its replicas a part of `columns`.
struct DividedStep {
  bool declares_data = true, begins = true, reduces = true;
  constexpr void operator()(Ir& ir) const {
    const auto group = ir.replica_grouping(1, 2), parts = group.transpose();
    Tensor x = load(ir, "x");
    if (declares_data) x = collectives::replicated_all_reduce_identical_inputs(x, group);
    const auto forward = [=, this](Tensor data, Tensor weight, Tensor columns) {
      Tensor y = data * weight;
      if (begins) y = collectives::replicated_all_reduce_identical_inputs(y, group);
      return collectives::replicated_all_reduce_identical_grad_inputs(y * columns, group);
    };
    const Tensor weight = variable(ir, "weight"), columns = variable(ir, "columns", {.replica_grouping = parts});
    const Graph graph = ir.create_graph(forward, x, weight, columns);
    const auto backward = tw::autodiff(graph);
    const auto call = tw::call_with_info(graph, {x, weight, columns});
    const auto gradients = tw::call_with_info(backward.graph(), {call.output(0)}, backward.inputs_dict(call)).outputs();
    ops::accumulate_(weight, reduces ? mean(gradients[1], parts) : gradients[1]);
    ops::accumulate_(columns, mean(gradients[2], parts));
  }
};
static_assert(failure_of(DividedStep{}) == "");
TW_SAME(error_of(DividedStep{.declares_data = false}),
        "Accumulate.115: variable 'weight', of which all 4 replicas have one value, changed by what is equal within the groups 0 "
        "1 0 1 "
        "only, since HostLoad.100 of stream 'x'");
TW_SAME(error_of(DividedStep{.begins = false}),
        "Accumulate.113: variable 'weight', of which all 4 replicas have one value, changed by what is equal within the groups 0 "
        "1 0 1 "
        "only, since HostLoad.100 of stream 'x'");
TW_SAME(error_of(DividedStep{.reduces = false}),
        "Accumulate.115: variable 'weight', of which all 4 replicas have one value, changed by what is equal within the groups 0 "
        "0 1 1 "
        "only, since HostLoad.100 of stream 'x'");

}  // namespace
