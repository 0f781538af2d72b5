// Groupings of replicas and collectives that cannot be.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using tw::Ir, tw::Tensor;

constexpr Tensor reduce(Tensor x) { return collectives::replicated_all_reduce(x); }

constexpr void program(Ir& ir) {
  ir.set_replication_factor(8);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3, 4}));
  const tw::ReplicaGrouping pairs = ir.replica_grouping(1, 2);
  const tw::Graph graph = ir.create_graph(reduce, x);
  const Tensor y = collectives::replicated_slice(tw::call(graph, x), {.axis = 1, .group = pairs});
  ops::host_store(ir.d2h_stream("y", {3, 2}), y);
  // CASE factor
  // expect: replication_factor: 4 after replica groupings were made for 8: to be set before expected
#ifdef CASE_factor
  ir.set_replication_factor(4);
#endif
  // CASE stride
  // expect: replica_grouping: stride 3 of 8 replicas: a divisor of the replication factor expected
#ifdef CASE_stride
  ir.replica_grouping(3, 2);
#endif
  // CASE irregular_group
  // expect: replicated_all_gather: Tensor[float32 (3, 2)] over ReplicaGrouping(num_replicas=8,
  // expect: assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, num_groups=2): a grouping with a constant stride expected
#ifdef CASE_irregular_group
  collectives::replicated_all_gather(y, {.group = ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1})});
#endif
  // CASE uneven_slices
  // expect: ReplicatedReduceScatter: axis 0 of (3, 4) float32 over ReplicaGrouping(num_replicas=8, stride=1, group_size=2,
  // expect: num_groups=4): an extent that the group size divides expected
#ifdef CASE_uneven_slices
  collectives::replicated_slice(x, {.group = pairs});
#endif
  // CASE no_meta_shape
  // expect: to its meta shape: a tensor that has one expected
#ifdef CASE_no_meta_shape
  collectives::replicated_all_gather(y, {.output_shape = tw::GatheredShape::meta_shape});
#endif
  // CASE axes_of_a_variable
  // expect: variable: `v` of shape (1, 1, 1, 1, 1, 2) on the host once for each group or replica: at most 5 axes expected
#ifdef CASE_axes_of_a_variable
  ir.variable(tw::ones(), {1, 1, 1, 1, 1, 2}, tw::float32, "v", {.replica_grouping = pairs});
#endif
  // CASE axes_of_a_stream
  // expect: stream: `z` of shape (1, 1, 1, 1, 2) with num_host_transfers 2 and 8 replicas: at most 4 axes expected
#ifdef CASE_axes_of_a_stream
  ir.set_num_host_transfers(2);
  const Tensor z = ops::host_load(ir.h2d_stream("z", {1, 1, 1, 1, 2}));
  ops::host_store(ir.d2h_stream("z_out", {2}), z.reshape({2}));
#endif
  // CASE gradient
  // expect: ReplicatedAllReduce.101 on (3, 4) float32 has no gradient: a differentiable op, or detach before it, expected
#ifdef CASE_gradient
  tw::autodiff(graph);
#endif
}
tw::Session<program> session;
