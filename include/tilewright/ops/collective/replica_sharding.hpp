#pragma once
#include <string_view>

#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/module/variable_factory.hpp"
#include "tilewright/ops/collective/collectives.hpp"
#include "tilewright/program/scopes.hpp"

// Replicated tensor sharding: each replica of a group keeps its shard of a tensor, which is gathered where the whole is needed;
// gradients of the whole are reduced to shards.

namespace tilewright {

/// Groups of several collectives: one grouping for all tensors, or groupings by the tensors' names. `for_all` applies to tensors
/// that by_name does not contain.
struct ReplicaGroupingChoice {
  ReplicaGrouping for_all{};  ///< for tensors that by_name does not contain
  NamedReplicaGrouping by_name{};  ///< by the dotted names of tensors

  constexpr ReplicaGroupingChoice() = default;
  constexpr ReplicaGroupingChoice(const ReplicaGrouping& grouping) : for_all(grouping) {}
  constexpr ReplicaGroupingChoice(const DotTree<ReplicaGrouping>& groupings) : by_name(groupings) {}

  constexpr ReplicaGrouping of(std::string_view name) const {
    const ReplicaGrouping* grouping = by_name.find(name);
    return grouping ? *grouping : for_all;
  }
};

/// Options of a reduction to shards.
struct ReduceShardedOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< how elements are combined
  ReplicaGrouping shard_group{};  ///< replicas that have one shard each; by default replica_group
  ReplicaGrouping replica_group{};  ///< replicas whose tensors are reduced; by default all
};
/// Options of a reduction of several tensors to shards by a graph.
struct ReduceShardedGraphOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< how elements are combined
  ReplicaGroupingChoice shard_groups{};  ///< replicas that have one shard each; by default replica_group
  ReplicaGrouping replica_group{};  ///< replicas whose tensors are reduced; by default all
};

namespace detail {
/// Checks that t is not a shard. Fails if it is; the error names `what`.
constexpr bool check_whole(std::string_view what, Tensor t) {
  const auto whole = t.meta_shape();
  if (whole) t.ir().fail(text(what, ": ", to_text(t), ", a shard of ", to_text(*whole), ": a whole tensor expected"));
  return !whole;
}
}  // namespace detail

/// Returns the spec of a replica's shard of t over `shard_over` replicas, as reduce_replica_sharded_tensor creates it: (elements
/// / shard_over,), or t's own spec if the division has a remainder. t: any shape and dtype, not a shard.
[[nodiscard]] constexpr TensorSpec replica_sharded_spec(Tensor t, std::int64_t shard_over) {
  if (!t.is_usable() || !detail::check_whole("replica_sharded_spec", t)) return t.spec();
  if (shard_over < 1)
    t.ir().fail(text("replica_sharded_spec: ", to_text(t), " over ", shard_over, " replicas: at least 1 expected"));
  if (shard_over < 1 || !can_be_sharded(t.nelms(), shard_over)) return t.spec();
  return detail::shard_spec(t.shape(), t.dtype(), shard_over);
}
/// Returns the spec of a replica's shard of t over the n replicas of a group: (elements / n,), or t's own spec if the division
/// has a remainder. t: any shape and dtype, not a shard.
[[nodiscard]] constexpr TensorSpec replica_sharded_spec(Tensor t, const ReplicaGrouping& shard_group) {
  return replica_sharded_spec(t, shard_group.group_size());
}

/// Gathers a tensor of t's meta shape from the shards of all replicas of the group. Returns a t without a meta shape unchanged.
/// The group, by default all replicas, holds one copy of all shards. Fails for a group whose size is not the number of shards.
/// Not differentiable.
[[nodiscard]] constexpr Tensor gather_replica_sharded_tensor(Tensor t, const ReplicaGrouping& group = {}) {
  if (!t.is_usable() || !t.meta_shape()) return t;
  return ops::collectives::replicated_all_gather(t, {.group = group});
}

/// Reduces t over `replica_group` and returns this replica's shard of the result, with t's shape as its meta shape. There is one
/// shard for each replica of `shard_group`. t: any shape, float16, float32, int32 or uint32, not a shard. If both groups are
/// equal, the op is one reduce-scatter; otherwise it is an all-reduce and a slice. If t's elements do not divide into equal
/// shards, returns the all-reduced t. Not differentiable.
///
///     tw::reduce_replica_sharded_tensor(gradient, {.op = tw::CollectiveOperator::mean})
[[nodiscard]] constexpr Tensor reduce_replica_sharded_tensor(Tensor t, const ReduceShardedOptions& options = {}) {
  namespace collectives = ops::collectives;
  constexpr std::string_view what = "reduce_replica_sharded_tensor";
  if (!t.is_usable() || !detail::check_whole(what, t)) return t;
  if (options.op == CollectiveOperator::local)
    return t.ir().fail(text(what, ": local of ", to_text(t), ": a reduction expected"));
  const ReplicaGroups replicas = collectives::detail::groups_for(what, t, options.replica_group);
  const ReplicaGrouping& shard_group = options.shard_group.valid() ? options.shard_group : options.replica_group;
  const ReplicaGroups shards = collectives::detail::groups_for(what, t, shard_group);
  if (t.ir().failed()) return Tensor::invalid(t.ir());
  if (can_be_sharded(t.nelms(), shards.group_size) && shards == replicas)
    return collectives::replicated_reduce_scatter(
        t, {.op = options.op, .group = shard_group, .configure_output_for_replicated_tensor_sharding = true});
  const Tensor reduced = collectives::replicated_all_reduce(t, {.op = options.op, .group = options.replica_group});
  return can_be_sharded(t.nelms(), shards.group_size) ? collectives::replica_sharded_slice(reduced, shard_group) : reduced;
}

/// A graph that processes several named tensors, one by one. Its inputs and outputs have the tensors' names; outputs are in
/// alphabetical order.
struct NamedTensorsGraph {
  GraphWithNamedArgs graph;
  List<Text> names;  ///< of the outputs

  /// Calls the graph and returns the results by name.
  constexpr NamedTensors call(const DotTree<Tensor>& tensors) const {
    return NamedTensors::pack(names, graph.bind(tensors).call());
  }
};

namespace detail {
/// Creates the graph of f(name, input) for all tensors, which are used as descriptions only.
TILEWRIGHT_KEPT constexpr NamedTensorsGraph&& graph_of_each(Ir& ir, std::string_view graph_name, const DotTree<Tensor>& tensors,
                                                            auto f) {
  const auto [names, described] = tensors.unpack();
  const Graph graph = ir.create_empty_graph(graph_name);
  const GraphScope scope(graph);
  const PathScope path(ir, graph_name);
  NamedTensors inputs;
  for (std::size_t i = 0; i < names.size() && !ir.failed(); ++i) {
    const PathScope path_of_tensor(ir, names[i].view());
    if (!described[i].valid()) break;
    const Tensor input = detail::add_graph_input(ir, described[i].spec(), names[i].view(), false,
                                                 ir.tables.record(described[i]).meta_shape);
    inputs.insert(names[i].view(), input);
    graph_output(f(names[i].view(), input));
  }
  return keep(ir, NamedTensorsGraph{{graph, inputs}, names});
}
}  // namespace detail

/// Creates a graph that gathers all shards among the tensors, as gather_replica_sharded_tensor does; other tensors pass through
/// unchanged. Calls share its code. The tensors only describe the inputs; they are not connected.
///
///     const auto [graph, names] = tw::all_gather_replica_sharded_graph(ir, shards, factories.shard_groupings());
///     const auto variables = tw::NamedTensors::pack(names, graph.bind(shards).call());
[[nodiscard]] TILEWRIGHT_KEPT constexpr NamedTensorsGraph&& all_gather_replica_sharded_graph(
    Ir& ir, const DotTree<Tensor>& tensors, const ReplicaGroupingChoice& replica_groups = {}) {
  return detail::graph_of_each(ir, "all_gather_replica_sharded", tensors, [&](std::string_view name, Tensor t) {
    return gather_replica_sharded_tensor(t, replica_groups.of(name));
  });
}

/// Creates a graph that reduces all tensors to shards, as reduce_replica_sharded_tensor does. Calls share its code. The tensors
/// only describe the inputs; they are not connected.
///
///     const auto [graph, names] = tw::reduce_replica_sharded_graph(ir, gradients, {.op = tw::CollectiveOperator::mean});
///     const auto reduced = tw::NamedTensors::pack(names, graph.bind(gradients).call());
[[nodiscard]] TILEWRIGHT_KEPT constexpr NamedTensorsGraph&& reduce_replica_sharded_graph(
    Ir& ir, const DotTree<Tensor>& tensors, const ReduceShardedGraphOptions& options = {}) {
  return detail::graph_of_each(ir, "reduce_replica_sharded", tensors, [&](std::string_view name, Tensor t) {
    return reduce_replica_sharded_tensor(
        t, {.op = options.op, .shard_group = options.shard_groups.of(name), .replica_group = options.replica_group});
  });
}

}  // namespace tilewright
