// Groupings of replicas and collectives that cannot be.
#include "traced.hpp"

namespace collectives = tw::ops::collectives;

/// What the programs have in common, and compiles without more.
struct Replicated {
  Tensor x;
  tw::ReplicaGrouping pairs;
  tw::Graph graph;
  Tensor y;

  constexpr explicit Replicated(Ir& ir)
      : x((ir.set_replication_factor(8), ops::host_load(ir.h2d_stream("x", {3, 4})))),
        pairs(ir.replica_grouping(1, 2)),
        graph(ir.create_graph([](Tensor t) { return collectives::replicated_all_reduce(t); }, x)),
        y(collectives::replicated_slice(tw::call(graph, x), {.axis = 1, .group = pairs})) {}
};
template <auto function>
constexpr void program(Ir& ir) {
  function(ir, Replicated(ir));
}
template <auto function>
using Case = Traced<program<function>>;
Case<[](Ir&, const Replicated&) {}> compiles;

// CASE factor
// expect: replication_factor: 4 after replica groupings were made for 8: to be set before expected
Case<[](Ir& ir, const Replicated&) { ir.set_replication_factor(4); }> factor;

// CASE stride
// expect: replica_grouping: stride 3 of 8 replicas: a divisor of the replication factor expected
Case<[](Ir& ir, const Replicated&) { ir.replica_grouping(3, 2); }> stride;

// CASE instances
// expect: instance_replication_factor: 8 replicas on a number of processes that is not known before the program runs:
// expect: replication_factor() in a program, or session.instance_replication_factor(), expected
Case<[](Ir& ir, const Replicated&) { ir.instance_replication_factor(); }> instances;

// CASE irregular_group
// expect: replicated_all_gather: Tensor[float32 (3, 2)] over ReplicaGrouping(num_replicas=8,
// expect: assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, num_groups=2): a grouping with a constant stride expected
Case<[](Ir& ir, const Replicated& with) {
  collectives::replicated_all_gather(with.y, {.group = ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1})});
}>
    irregular_group;

// CASE uneven_slices
// expect: ReplicatedReduceScatter: axis 0 of (3, 4) float32 over ReplicaGrouping(num_replicas=8, stride=1, group_size=2,
// expect: num_groups=4): an extent that the group size divides expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_slice(with.x, {.group = with.pairs}); }> uneven_slices;

// CASE no_meta_shape
// expect: replicated_all_gather: Tensor[float32 (3, 2)] over ReplicaGrouping(num_replicas=8, stride=1, group_size=8,
// expect: num_groups=1) to its meta shape: a tensor that has one expected
Case<[](Ir&, const Replicated& with) {
  collectives::replicated_all_gather(with.y, {.output_shape = tw::GatheredShape::meta_shape});
}>
    no_meta_shape;

// CASE axes_of_a_variable
// expect: variable: `v` of shape (1, 1, 1, 1, 1, 2) on the host once for each group or replica: at most 5 axes expected
Case<[](Ir& ir, const Replicated& with) {
  ir.variable(tw::ones(), {1, 1, 1, 1, 1, 2}, tw::float32, "v", {.replica_grouping = with.pairs});
}>
    axes_of_a_variable;

// CASE axes_of_a_stream
// expect: stream: `z` of shape (1, 1, 1, 1, 2) with num_host_transfers 2 and 8 replicas: at most 4 axes expected
Case<[](Ir& ir, const Replicated&) {
  ir.set_num_host_transfers(2);
  const Tensor z = ops::host_load(ir.h2d_stream("z", {1, 1, 1, 1, 2}));
  ops::host_store(ir.d2h_stream("z_out", {2}), z.reshape({2}));
}>
    axes_of_a_stream;

// CASE gradient
// expect: ReplicatedAllReduce.101 on (3, 4) float32 has no gradient: a differentiable op, or detach before it, expected
Case<[](Ir&, const Replicated& with) { tw::autodiff(with.graph); }> gradient;

// CASE group_of_another_ir
// expect: replicated_all_reduce: Tensor[float32 (3, 4)] over ReplicaGrouping(num_replicas=1, stride=1, group_size=1,
// expect: num_groups=1) of another Ir: a group of the tensor`s Ir expected
Case<[](Ir&, const Replicated& with) {
  Ir other;
  collectives::replicated_all_reduce(with.x, {.group = other.replica_grouping()});
}>
    group_of_another_ir;

// CASE local_reduction
// expect: ReplicatedAllReduce: local of (3, 4) float32 over ReplicaGrouping(num_replicas=8,
// expect: : a reduction expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_all_reduce(with.x, {.op = tw::CollectiveOperator::local}); }>
    local_reduction;

// CASE sum_of_bools
// expect: ReplicatedReduceScatter: (3, 4) bool over ReplicaGrouping(num_replicas=8,
// expect: : a dtype of numbers expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_reduce_scatter(with.x.cast(tw::boolean)); }> sum_of_bools;

// CASE slice_axis
// expect: ReplicatedReduceScatter: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_slice(with.x, {.axis = 2}); }> slice_axis;

// CASE gather_axis
// expect: ReplicatedAllGather: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_all_gather(with.x, {.axis = 2}); }> gather_axis;

// CASE gather_to_a_new_axis
// expect: ReplicatedAllGather: (3, 4, 1, 1, 1, 1) float32 over ReplicaGrouping(num_replicas=8,
// expect: with a new axis: at most 5 axes expected
Case<[](Ir&, const Replicated& with) {
  collectives::replicated_all_gather(with.x.reshape({3, 4, 1, 1, 1, 1}), {.output_shape = tw::GatheredShape::new_axis});
}>
    gather_to_a_new_axis;

// CASE gather_of_other_shards
// expect: ReplicatedAllGather: (6,) float32 over ReplicaGrouping(num_replicas=8,
// expect: to (3, 4), which is in 2 parts: groups of as many replicas expected
Case<[](Ir&, const Replicated& with) {
  collectives::replicated_all_gather(collectives::replica_sharded_slice(with.x, with.pairs));
}>
    gather_of_other_shards;

// CASE shards_of_two_shapes
// expect: Add: (6,) of (3, 4) in 2 parts and of (4, 3) in 2 parts: shards of tensors of one shape in as many parts expected
Case<[](Ir&, const Replicated& with) {
  collectives::replica_sharded_slice(with.x, with.pairs) + collectives::replica_sharded_slice(with.x.T(), with.pairs);
}>
    shards_of_two_shapes;

// CASE gradient_of_a_reduction
// expect: ReplicatedReduceScatter: gradient of add of (3, 4) float32 over ReplicaGrouping(num_replicas=8,
// expect: which has none: a slice, or a reduction outside of the graph, expected
Case<[](Ir& ir, const Replicated& with) {
  tw::autodiff(ir.create_graph([](Tensor t) { return collectives::replicated_reduce_scatter(t); }, with.x));
}>
    gradient_of_a_reduction;

// CASE gradient_of_gathered_shards
// expect: ReplicatedAllGather: gradient of (2,) float32 over ReplicaGrouping(num_replicas=8,
// expect: to (3, 4): shards that are gathered outside of the graph expected
Case<[](Ir& ir, const Replicated& with) {
  tw::autodiff(ir.create_graph([](Tensor t) { return collectives::replicated_all_gather(collectives::replica_sharded_slice(t)); },
                               with.x));
}>
    gradient_of_gathered_shards;
