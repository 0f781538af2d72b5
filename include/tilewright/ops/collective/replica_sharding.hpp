#pragma once
#include <string_view>

#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/module/variable_factory.hpp"
#include "tilewright/ops/collective/collectives.hpp"
#include "tilewright/program/scopes.hpp"

// Replicated tensor sharding: each replica of a group keeps its shard of a tensor, which is gathered where the whole is needed;
// gradients of the whole are reduced to shards.

namespace tilewright {

/// The groups of several collectives: one grouping for all tensors, or groupings by the tensors' names. A tensor without one has
/// the default.
struct ReplicaGroupingChoice {
  ReplicaGrouping for_all{};       ///< of tensors without one by name
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
  CollectiveOperator op = CollectiveOperator::add;  ///< what becomes of the tensors' elements
  ReplicaGrouping shard_group{};    ///< replicas that have one shard each; by default replica_group
  ReplicaGrouping replica_group{};  ///< replicas whose tensors are reduced; by default all
};
/// Options of a reduction of several tensors to shards, by a graph.
struct ReduceShardedGraphOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< what becomes of the tensors' elements
  ReplicaGroupingChoice shard_groups{};  ///< replicas that have one shard each; by default replica_group
  ReplicaGrouping replica_group{};  ///< replicas whose tensors are reduced; by default all
};

namespace detail {
/// Whether t is no shard. Fails for a shard, naming `what`.
constexpr bool check_whole(std::string_view what, Tensor t) {
  const auto whole = t.meta_shape();
  if (whole) t.ir().fail(text(what, ": ", to_text(t), ", a shard of ", to_text(*whole), ": a whole tensor expected"));
  return !whole;
}
}  // namespace detail

/// The spec of a replica's shard of t over `shard_over` replicas, as reduce_replica_sharded_tensor makes it: (elements /
/// shard_over,), or t's own if that leaves a remainder. t: any shape and dtype, no shard.
constexpr TensorSpec replica_sharded_spec(Tensor t, std::int64_t shard_over) {
  if (!t.is_usable() || !detail::check_whole("replica_sharded_spec", t)) return t.spec();
  if (shard_over < 1)
    t.ir().fail(text("replica_sharded_spec: ", to_text(t), " over ", shard_over, " replicas: at least 1 expected"));
  if (shard_over < 1 || !can_be_sharded(t.nelms(), shard_over)) return t.spec();
  return detail::shard_spec(t.shape(), t.dtype(), shard_over);
}
/// The spec of a replica's shard of t over the replicas of a group: (elements / their number,), or t's own if that leaves a
/// remainder. t: any shape and dtype, no shard.
constexpr TensorSpec replica_sharded_spec(Tensor t, const ReplicaGrouping& shard_group) {
  return replica_sharded_spec(t, shard_group.group_size());
}

/// The whole tensor, of t's meta shape, from the shards of all replicas of the group; a t without a meta shape as it is. The
/// group is that of the replicas which have one copy of all shards, by default all. Fails for a group of more or fewer replicas
/// than there are shards. Not differentiable.
constexpr Tensor gather_replica_sharded_tensor(Tensor t, const ReplicaGrouping& group = {}) {
  if (!t.is_usable() || !t.meta_shape()) return t;
  return ops::collectives::replicated_all_gather(t, {.group = group});
}

/// The shard that this replica has of the reduction of t over `replica_group`: one for each replica of `shard_group`, and t's
/// shape as its meta shape. t: any shape, float16, float32, int32 or uint32, no shard. If the two groups are the same, it is one
/// reduce-scatter; else an all-reduce and a slice. If t's elements cannot be divided into as many equal shards, the result is the
/// all-reduced t. Not differentiable.
///
///     tw::reduce_replica_sharded_tensor(gradient, {.op = tw::CollectiveOperator::mean})
constexpr Tensor reduce_replica_sharded_tensor(Tensor t, const ReduceShardedOptions& options = {}) {
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

/// A graph that makes one tensor of each of several named tensors. Its named inputs are these, its outputs have the same names,
/// in alphabetical order.
struct NamedTensorsGraph {
  GraphWithNamedArgs graph;
  List<Text> names;  ///< of the outputs

  /// Calls the graph: the results by name.
  constexpr NamedTensors call(const DotTree<Tensor>& tensors) const {
    return NamedTensors::pack(names, graph.bind(tensors).call());
  }
};

namespace detail {
/// The graph of f(name, input) for all tensors, which are descriptions only.
constexpr NamedTensorsGraph graph_of_each(Ir& ir, std::string_view graph_name, const DotTree<Tensor>& tensors, auto f) {
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
  return {{graph, inputs}, names};
}
}  // namespace detail

/// A graph that gathers all shards among the tensors, as gather_replica_sharded_tensor does; others pass through it. Calls share
/// its code. The tensors describe its inputs, and are not connected.
///
///     const auto [graph, names] = tw::all_gather_replica_sharded_graph(ir, shards, factories.shard_groupings());
///     const auto variables = tw::NamedTensors::pack(names, graph.bind(shards).call());
constexpr NamedTensorsGraph all_gather_replica_sharded_graph(Ir& ir, const DotTree<Tensor>& tensors,
                                                             const ReplicaGroupingChoice& replica_groups = {}) {
  return detail::graph_of_each(ir, "all_gather_replica_sharded", tensors, [&](std::string_view name, Tensor t) {
    return gather_replica_sharded_tensor(t, replica_groups.of(name));
  });
}

/// A graph that reduces all tensors to shards, as reduce_replica_sharded_tensor does. Calls share its code. The tensors describe
/// its inputs, and are not connected.
///
///     const auto [graph, names] = tw::reduce_replica_sharded_graph(ir, gradients, {.op = tw::CollectiveOperator::mean});
///     const auto reduced = tw::NamedTensors::pack(names, graph.bind(gradients).call());
constexpr NamedTensorsGraph reduce_replica_sharded_graph(Ir& ir, const DotTree<Tensor>& tensors,
                                                         const ReduceShardedGraphOptions& options = {}) {
  return detail::graph_of_each(ir, "reduce_replica_sharded", tensors, [&](std::string_view name, Tensor t) {
    return reduce_replica_sharded_tensor(
        t, {.op = options.op, .shard_group = options.shard_groups.of(name), .replica_group = options.replica_group});
  });
}

}  // namespace tilewright
