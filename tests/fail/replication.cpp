// labels: none
// Groupings of replicas and collectives that cannot be.
#include <tilewright/layers/tensor_parallel.hpp>
#include <tilewright/ops/collective/distributed_norm.hpp>
#include <tilewright/ops/collective/sharded_loss.hpp>
#include <tilewright/ops/reduce/grad_reduce_square_add.hpp>
#include <tilewright/program/instance_grouping.hpp>

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

// CASE axes_of_shards
// expect: replica_sharded_variable: `v` of shape (1, 1, 1, 1, 1, 8) on the host once for each group or replica: at most 5 axes
// expect: once for each group or replica: at most 5 axes expected
Case<[](Ir& ir, const Replicated&) {
  ir.replica_sharded_variable(tw::ones(), {1, 1, 1, 1, 1, 8}, tw::float32, "v",
                              {.retrieval_mode = tw::RetrievalMode::all_replicas});
}>
    axes_of_shards;

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
// expect: ReplicatedReduceScatter: add of (3, 4) bool over ReplicaGrouping(num_replicas=8,
// expect: : a dtype other than bool and float8, or bool with logical_and or logical_or, expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_reduce_scatter(with.x.cast(tw::boolean)); }> sum_of_bools;

// CASE sum_of_float8
// expect: ReplicatedReduceScatter: add of (3, 4) float8_143 over ReplicaGrouping(num_replicas=8,
// expect: : a dtype other than bool and float8, or bool with logical_and or logical_or, expected
Case<[](Ir&, const Replicated& with) {
  collectives::replicated_reduce_scatter(ops::pow2scale_then_cast(with.x, 0, tw::float8_143));
}>
    sum_of_float8;

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
// expect: to (3, 4), which is in 2 parts: groups of 2 replicas expected
Case<[](Ir&, const Replicated& with) {
  collectives::replicated_all_gather(collectives::replica_sharded_slice(with.x, with.pairs));
}>
    gather_of_other_shards;

// CASE shards_of_two_shapes
// expect: Add: (6,) of (3, 4) in 2 parts and of (4, 3) in 2 parts: shards of tensors of one shape in the same number of parts
// expect: expected
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

// ---- replicated tensor sharding

/// A shard in one of two parts, as a named tensor.
constexpr tw::NamedTensors shard_of(const Replicated& with) {
  return tw::NamedTensors::from_dict({{"fc1.weight", collectives::replica_sharded_slice(with.x, with.pairs)}});
}
constexpr tw::NamedTensors whole_of(const Replicated& with) { return tw::NamedTensors::from_dict({{"fc1.weight", with.x}}); }
struct Weight : tw::Module<Weight> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("weight", tw::zeros(), {3, 4}); }
};

// CASE negative_threshold
// expect: replica_sharded: threshold -1: a number of elements, at least 0, expected
Case<[](Ir& ir, const Replicated&) { tw::create_graph(ir, Weight(), tw::TensorSpec{{3, 4}}).factories.replica_sharded(0, -1); }>
    negative_threshold;

// CASE shards_of_an_unknown_name
// expect: DotTree: no leaf `wait`: one of weight expected
Case<[](Ir& ir, const Replicated&) {
  tw::create_graph(ir, Weight(), tw::TensorSpec{{3, 4}}).factories.replica_sharded({{"wait", 2}});
}>
    shards_of_an_unknown_name;

// CASE buffer_of_unequal_shards
// expect: create_remote_buffer: (3, 3) float32 over 8 replicas: a divisor of 9 expected
Case<[](Ir& ir, const Replicated&) { tw::create_remote_buffer(ir, tw::TensorSpec{{3, 3}}, 1, {}, 8); }> buffer_of_unequal_shards;

// CASE gather_of_named_shards
// expect: ReplicatedAllGather: (6,) float32 over ReplicaGrouping(num_replicas=8,
// expect: to (3, 4), which is in 2 parts: groups of 2 replicas expected, in all_gather_replica_sharded/fc1.weight
Case<[](Ir& ir, const Replicated& with) { tw::all_gather_replica_sharded_graph(ir, shard_of(with)); }> gather_of_named_shards;

// CASE gather_in_irregular_groups
// expect: replicated_all_gather: Tensor[fc1.weight float32 (6,)]
// expect: : a grouping with a constant stride expected, in all_gather_replica_sharded/fc1.weight
Case<[](Ir& ir, const Replicated& with) {
  tw::all_gather_replica_sharded_graph(
      ir, shard_of(with),
      tw::NamedReplicaGrouping::from_dict({{"fc1.weight", ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1})}}));
}>
    gather_in_irregular_groups;

// CASE reduction_of_a_shard
// expect: reduce_replica_sharded_tensor: Tensor[fc1.weight float32 (6,)], a shard of (3, 4): a
// expect: whole tensor expected, in reduce_replica_sharded/fc1.weight
Case<[](Ir& ir, const Replicated& with) { tw::reduce_replica_sharded_graph(ir, shard_of(with)); }> reduction_of_a_shard;

// CASE local_reduction_to_a_shard
// expect: reduce_replica_sharded_tensor: local of Tensor[fc1.weight float32 (3, 4)]:
// expect: : a reduction expected, in reduce_replica_sharded/fc1.weight
Case<[](Ir& ir, const Replicated& with) {
  tw::reduce_replica_sharded_graph(ir, whole_of(with), {.op = tw::CollectiveOperator::local});
}>
    local_reduction_to_a_shard;

// CASE first_error_of_a_step
// expect: reduce_replica_sharded_tensor: Tensor[fc1.weight float32 (6,)], a shard of (3, 4): a whole tensor expected
Case<[](Ir& ir, const Replicated& with) {
  const tw::NamedTensors reduced = tw::reduce_replica_sharded_graph(ir, shard_of(with)).call(shard_of(with));
  const auto [gather, names] = tw::all_gather_replica_sharded_graph(ir, reduced);
  ops::scaled_add_(with.x, tw::NamedTensors::pack(names, gather.bind(reduced).call())["fc1.weight"]);
}>
    first_error_of_a_step;

// CASE sum_of_bools_to_a_shard
// expect: ReplicatedReduceScatter: add of (3, 4) bool over ReplicaGrouping(num_replicas=8,
// expect: : a dtype other than bool and float8, or bool with logical_and or logical_or, expected
Case<[](Ir&, const Replicated& with) {
  tw::reduce_replica_sharded_tensor(with.x.cast(tw::boolean), {.replica_group = with.pairs});
}>
    sum_of_bools_to_a_shard;

// CASE shard_group_of_another_ir
// expect: reduce_replica_sharded_tensor: Tensor[float32 (3, 4)] over ReplicaGrouping(num_replicas=1, stride=1, group_size=1,
// expect: num_groups=1) of another Ir: a group of the tensor`s Ir expected
Case<[](Ir&, const Replicated& with) {
  Ir other;
  tw::reduce_replica_sharded_tensor(with.x, {.shard_group = other.replica_grouping()});
}>
    shard_group_of_another_ir;

// CASE spec_over_none
// expect: replica_sharded_spec: Tensor[float32 (3, 4)] over 0 replicas: at least 1 expected
Case<[](Ir&, const Replicated& with) { tw::replica_sharded_spec(with.x, 0); }> spec_over_none;

// CASE factories_over_three
// expect: replica_sharded_variable: `weight` over 3 replicas of groups of 8: a divisor of 8 expected
Case<[](Ir&, const Replicated& with) { Weight().create_graph(with.x).factories.replica_sharded(3); }> factories_over_three;

// CASE optimiser_of_a_shard
// expect: (6,) and (3, 4)
Case<[](Ir&, const Replicated& with) {
  ops::add_(collectives::replica_sharded_slice(with.x, with.pairs), tw::gather_replica_sharded_tensor(with.x));
}>
    optimiser_of_a_shard;

// CASE instances_of_three
// expect: get_instance_replica_grouping: ReplicaGrouping(num_replicas=8, stride=1, group_size=2, num_groups=4) with 3 replicas in
// expect: each instance: a divisor of 8 expected
Case<[](Ir&, const Replicated& with) { tw::get_instance_replica_grouping(with.pairs, 3); }> instances_of_three;

// CASE domains_of_none
// expect: get_ild_replica_grouping: ReplicaGrouping(num_replicas=8, stride=1, group_size=2, num_groups=4) with 0 replicas in
// expect: each link domain: a divisor of 8 expected
Case<[](Ir&, const Replicated& with) { tw::get_ild_replica_grouping(with.pairs, 0); }> domains_of_none;

// CASE is_cross_no_instance
// expect: is_cross_instance: ReplicaGrouping(num_replicas=8, stride=1, group_size=2, num_groups=4) with 5 replicas in each
// expect: instance: a divisor of 8 expected
Case<[](Ir&, const Replicated& with) { tw::is_cross_instance(with.pairs, 5); }> is_cross_no_instance;

// CASE uneven_instances
// expect: get_instance_replica_grouping: ReplicaGrouping(num_replicas=8, assignment=[0, 0, 0, 1, 0, 1, 1, 1],
// expect: with 4 replicas in each instance, so that groups have parts of 3 and of 1 replicas: parts of one size expected
Case<[](Ir& ir, const Replicated&) {
  tw::get_instance_replica_grouping(ir.replica_grouping_from_assignments({0, 0, 0, 1, 0, 1, 1, 1}), 4);
}>
    uneven_instances;

// ---- tensor parallelism

// CASE vocabulary_of_unequal_parts
// expect: VocabParallelEmbedding: num_embeddings 65 over groups of 2 replicas: a multiple of 2 expected
Case<[](Ir&, const Replicated& with) {
  tw::create_graph(tw::layers::VocabParallelEmbedding<65, 4, {.group_size = 2}>(), with.x.cast(tw::int32));
}>
    vocabulary_of_unequal_parts;

// CASE columns_of_unequal_parts
// expect: ColumnParallelLinear: out_features 12 over groups of 8 replicas: a multiple of 8 expected
Case<[](Ir&, const Replicated& with) { tw::create_graph(tw::layers::ColumnParallelLinear<12>(), with.x); }>
    columns_of_unequal_parts;

// CASE parallel_group_of_three
// expect: RowParallelLinear: group_size 3 of 8 replicas: a divisor of 8, or 0 for all, expected
Case<[](Ir&, const Replicated& with) { tw::create_graph(tw::layers::RowParallelLinear<4, {.group_size = 3}>(), with.x); }>
    parallel_group_of_three;

// CASE head_before_a_divided_embedding
// expect: VocabParallelEmbedding: logits of (3, 4) float32 before the embedding was called: a call expected
Case<[](Ir&, const Replicated& with) { tw::layers::VocabParallelEmbedding<8, 4>().logits(with.x); }>
    head_before_a_divided_embedding;

// CASE divided_embedding_of_floats
// expect: ShardIndices: indices (3, 4) float32: integers expected
Case<[](Ir&, const Replicated& with) { tw::create_graph(tw::layers::VocabParallelEmbedding<8, 4>(), with.x); }>
    divided_embedding_of_floats;

// CASE identical_sum_of_bools
// expect: ReplicatedAllReduceIdenticalGradInputs: add of (3, 4) bool over ReplicaGrouping(num_replicas=8,
// expect: : a dtype other than bool and float8, or bool with logical_and or logical_or, expected
Case<[](Ir&, const Replicated& with) { collectives::replicated_all_reduce_identical_grad_inputs(with.x.cast(tw::boolean)); }>
    identical_sum_of_bools;

// CASE identical_in_irregular_groups
// expect: replicated_all_reduce_identical_inputs: Tensor[float32 (3, 4)] over ReplicaGrouping(num_replicas=8,
// expect: : a grouping with a constant stride expected
Case<[](Ir& ir, const Replicated& with) {
  collectives::replicated_all_reduce_identical_inputs(with.x, ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1}));
}>
    identical_in_irregular_groups;

// CASE divided_loss_of_integers
// expect: cross_entropy_sharded_loss: logits (3, 4) int32: float16, float32, float64 or bfloat16 expected
Case<[](Ir&, const Replicated& with) { ops::cross_entropy_sharded_loss(with.x.cast(tw::int32), tensor(with.x, {3}, tw::int32)); }>
    divided_loss_of_integers;

// CASE divided_loss_of_real_labels
// expect: cross_entropy_sharded_loss: labels (3,) float32 for logits (3, 4) float32: (3,) int32 or uint32 expected
Case<[](Ir&, const Replicated& with) { ops::cross_entropy_sharded_loss(with.x, tensor(with.x, {3})); }>
    divided_loss_of_real_labels;

// CASE divided_loss_beyond_int32
// expect: ShardIndices: shards of 2147483648 rows: at most 2147483647, the places of int32, expected
Case<[](Ir&, const Replicated& with) {
  ops::cross_entropy_sharded_loss(tensor(with.x, {3, std::int64_t{1} << 31}), tensor(with.x, {3}, tw::int32));
}>
    divided_loss_beyond_int32;

// CASE divided_loss_of_a_scalar
// expect: cross_entropy_sharded_loss: logits () float32: at least one axis expected
Case<[](Ir&, const Replicated& with) { ops::cross_entropy_sharded_loss(tensor(with.x, {}), tensor(with.x, {}, tw::int32)); }>
    divided_loss_of_a_scalar;

// CASE divided_loss_in_another_program
// expect: cross_entropy_sharded_loss: Tensor[float32 (3, 4)] over ReplicaGrouping(num_replicas=1, stride=1, group_size=1,
// expect: num_groups=1) of another Ir: a group of the tensor`s Ir expected
Case<[](Ir&, const Replicated& with) {
  Ir other;
  ops::cross_entropy_sharded_loss(with.x, tensor(with.x, {3}, tw::int32), {.group = other.replica_grouping()});
}>
    divided_loss_in_another_program;

// CASE divided_norm_of_integers
// expect: layer_norm_distributed: (3, 4) int32: float16, float32, float64 or bfloat16 expected
Case<[](Ir&, const Replicated& with) {
  const Tensor x = with.x.cast(tw::int32);
  ops::layer_norm_distributed(x, x[0], x[0]);
}>
    divided_norm_of_integers;

// CASE divided_norm_of_a_whole_weight
// expect: layer_norm_distributed: weight (32,) float32 for (3, 4) float32: (4,) float32 expected
Case<[](Ir&, const Replicated& with) { ops::layer_norm_distributed(with.x, tensor(with.x, {32}), with.x[0]); }>
    divided_norm_of_a_whole_weight;

// CASE divided_norm_of_another_bias
// expect: layer_norm_distributed: bias (4,) float16 for (3, 4) float32: (4,) float32 expected
Case<[](Ir&, const Replicated& with) { ops::layer_norm_distributed(with.x, with.x[0], with.x[0].cast(tw::float16)); }>
    divided_norm_of_another_bias;

// CASE divided_norm_of_a_scalar
// expect: layer_norm_distributed: () float32: at least one axis expected
Case<[](Ir&, const Replicated& with) {
  const Tensor x = tensor(with.x, {});
  ops::layer_norm_distributed(x, x, x);
}>
    divided_norm_of_a_scalar;

// CASE squares_of_integers
// expect: grad_reduce_square_add: (3, 4) int32: float16, float32, float64 or bfloat16 expected
Case<[](Ir&, const Replicated& with) { ops::grad_reduce_square_add(with.x.cast(tw::int32)); }> squares_of_integers;

// CASE squares_by_two_scales
// expect: grad_reduce_square_add: loss_scaling (4,) float32: one element of floating point expected
Case<[](Ir&, const Replicated& with) { ops::grad_reduce_square_add(with.x, with.x[0]); }> squares_by_two_scales;

// CASE squares_by_a_scale_of_0
// expect: grad_reduce_square_add: loss_scaling 0: a finite number above 0 expected
Case<[](Ir&, const Replicated& with) { ops::grad_reduce_square_add(with.x, 0); }> squares_by_a_scale_of_0;
