// labels: none
// Replica groupings, and collectives as they are traced.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/lower/program/collective_traffic.hpp"
#include "tilewright/program/instance_grouping.hpp"
#include "tilewright/tilewright.hpp"

namespace {

using support::Facts;
using tw::Ir, tw::ReplicaGrouping, tw::Tensor, tw::Text;
using Numbers = std::vector<int>;

constexpr Ir ir_of(std::int64_t replicas, tw::OnError on_error = tw::OnError::raise) {
  Ir ir(on_error);
  ir.set_replication_factor(replicas);
  return ir;
}

// ---- groupings with a constant stride

constexpr bool members_agree(const ReplicaGrouping& grouping) {
  bool agree = true;
  for (std::int64_t replica = 0; replica < grouping.num_replicas(); ++replica)
    agree = agree && grouping.member(grouping.group_of(replica), grouping.index_in_group(replica)) == replica;
  return agree;
}
/// What is wrong about the groups of a constant stride.
constexpr Text grouping_error(std::int64_t replicas, std::int64_t stride, std::int64_t size, const Numbers& assignment) {
  Ir ir = ir_of(replicas);
  const ReplicaGrouping grouping = ir.replica_grouping(stride, size);
  Facts facts;
  facts.check(grouping.is_const() && grouping.const_rg() == grouping, "is_const");
  facts.check(grouping.to_device_map().empty() && grouping.to_host_map().empty(), "no maps");
  facts.check(grouping.num_replicas() == replicas, "num_replicas");
  facts.check(grouping.stride() == (size == 1 ? 1 : stride), "stride");
  facts.check(grouping.group_size() == size && grouping.num_groups() == replicas / size, "group_size, num_groups");
  facts.check(grouping.assignment() == assignment, "assignment");
  facts.check(ir.replica_grouping_from_assignments(assignment) == grouping, "replica_grouping_from_assignments");
  facts.check(members_agree(grouping), "member, group_of and index_in_group agree");
  return facts.check(grouping.transpose().transpose() == grouping, "transposed twice");
}
TW_SAME(grouping_error(1, 1, 1, {0}), "");
TW_SAME(grouping_error(8, 1, 8, {0, 0, 0, 0, 0, 0, 0, 0}), "");
TW_SAME(grouping_error(8, 1, 4, {0, 0, 0, 0, 1, 1, 1, 1}), "");
TW_SAME(grouping_error(8, 1, 2, {0, 0, 1, 1, 2, 2, 3, 3}), "");
TW_SAME(grouping_error(8, 1, 1, {0, 1, 2, 3, 4, 5, 6, 7}), "");
TW_SAME(grouping_error(8, 2, 4, {0, 1, 0, 1, 0, 1, 0, 1}), "");
TW_SAME(grouping_error(8, 4, 2, {0, 1, 2, 3, 0, 1, 2, 3}), "");
TW_SAME(grouping_error(8, 2, 2, {0, 1, 0, 1, 2, 3, 2, 3}), "");
TW_SAME(grouping_error(8, 4, 1, {0, 1, 2, 3, 4, 5, 6, 7}), "", "a group of one has a stride of 1");
TW_SAME(grouping_error(12, 2, 3, {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}), "");
TW_SAME(grouping_error(6, 3, 2, {0, 1, 2, 0, 1, 2}), "");

constexpr bool defaults() {
  Ir ir = ir_of(8);
  return ir.replica_grouping().group_size() == 8 && ir.replica_grouping(2).group_size() == 4 &&
         ir.replica_grouping(2) == ir.replica_grouping(2, 4) && !(ir.replica_grouping(2) == ir.replica_grouping(1, 4));
}
static_assert(defaults());

constexpr bool groupings_of_two_programs_differ() {
  Ir a = ir_of(4), b = ir_of(4);
  return !(a.replica_grouping() == b.replica_grouping());
}
static_assert(groupings_of_two_programs_differ());

constexpr Text printed(std::int64_t replicas, std::int64_t stride, std::int64_t size) {
  Ir ir = ir_of(replicas);
  return to_text(ir.replica_grouping(stride, size));
}
TW_SAME(printed(8, 2, 4), "ReplicaGrouping(num_replicas=8, stride=2, group_size=4, num_groups=2)");
TW_SAME(printed(8, 1, 8), "ReplicaGrouping(num_replicas=8, stride=1, group_size=8, num_groups=1)");

// ---- from assignments

constexpr Text printed(const Numbers& assignment) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  return to_text(ir.replica_grouping_from_assignments(assignment));
}
TW_SAME(printed({0, 0, 1, 1, 0, 0, 1, 1}),
        "ReplicaGrouping(num_replicas=8, assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, num_groups=2)");

/// What is wrong about groups of 4 without a constant stride.
constexpr Text irregular_error(const Numbers& assignment, const Numbers& const_rg, const Numbers& device_map,
                               const Numbers& host_map) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  const ReplicaGrouping grouping = ir.replica_grouping_from_assignments(assignment);
  Facts facts;
  facts.check(!grouping.is_const(), "is_const");
  facts.check(grouping.group_size() == 4, "group_size");
  facts.check(grouping.assignment() == assignment, "assignment");
  facts.check(grouping == ir.replica_grouping_from_assignments(assignment), "equal to one of the same assignment");
  facts.check(members_agree(grouping), "member, group_of and index_in_group agree");
  facts.check(grouping.const_rg().is_const() && grouping.const_rg().assignment() == const_rg, "const_rg");
  facts.check(grouping.to_device_map() == device_map, "to_device_map");
  return facts.check(grouping.to_host_map() == host_map, "to_host_map");
}
TW_SAME(irregular_error({0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 0, 1}, {0, 1}), "");
TW_SAME(irregular_error({0, 1, 1, 0, 0, 1, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 1, 0, 0, 1, 1, 0}, {0, 1}), "");
TW_SAME(irregular_error({0, 1, 0, 1, 0, 1, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 0, 1, 0, 1, 1, 0}, {0, 1}), "",
        "replicas 4 and 6 are in different groups");
TW_SAME(irregular_error({0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}, {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7},
                        {0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 2, 3}),
        "");

constexpr Numbers transposed(const Numbers& assignment) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  return ir.replica_grouping_from_assignments(assignment).transpose().assignment();
}
static_assert(transposed({0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}) == Numbers{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
static_assert(transposed({0, 0, 1, 1, 0, 0, 1, 1}) == Numbers{0, 1, 0, 1, 2, 3, 2, 3});
static_assert(transposed({0, 1, 0, 1, 2, 3, 2, 3}) == Numbers{0, 0, 1, 1, 0, 0, 1, 1});
static_assert(transposed({0, 0, 0, 0}) == Numbers{0, 1, 2, 3});
static_assert(transposed({0, 1, 2, 3}) == Numbers{0, 0, 0, 0});
static_assert(transposed({0, 0, 1, 1, 2, 2}) == Numbers{0, 1, 0, 1, 0, 1});

// ---- groups within an instance, or a link domain

constexpr Numbers within_instances(const Numbers& assignment, std::int64_t instance_replicas) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  return tw::get_instance_replica_grouping(ir.replica_grouping_from_assignments(assignment), instance_replicas).assignment();
}
static_assert(within_instances({0, 0, 0, 0, 0, 0, 0, 0}, 4) == Numbers{0, 0, 0, 0, 1, 1, 1, 1});
static_assert(within_instances({0, 0, 0, 0, 0, 0, 0, 0}, 8) == Numbers{0, 0, 0, 0, 0, 0, 0, 0});
static_assert(within_instances({0, 0, 0, 0, 0, 0, 0, 0}, 1) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
static_assert(within_instances({0, 1, 0, 1, 0, 1, 0, 1}, 4) == Numbers{0, 1, 0, 1, 2, 3, 2, 3});
static_assert(within_instances({0, 1, 2, 3, 0, 1, 2, 3}, 4) == Numbers{0, 1, 2, 3, 4, 5, 6, 7}, "no two are in one instance");
static_assert(within_instances({0, 0, 1, 1, 2, 2, 3, 3}, 4) == Numbers{0, 0, 1, 1, 2, 2, 3, 3}, "none is cut");
static_assert(within_instances({0, 0, 1, 1, 0, 0, 1, 1}, 4) == Numbers{0, 0, 1, 1, 2, 2, 3, 3}, "it gets a constant stride");

constexpr bool is_cut(std::int64_t stride, std::int64_t size, std::int64_t instance_replicas) {
  Ir ir = ir_of(8);
  const ReplicaGrouping grouping = ir.replica_grouping(stride, size);
  const bool is_cut = tw::is_cross_instance(grouping, instance_replicas);
  if (tw::is_cross_instance(tw::get_instance_replica_grouping(grouping, instance_replicas), instance_replicas))
    throw tw::TraceError("groups within instances expected");
  if (tw::get_ild_replica_grouping(grouping, instance_replicas) != tw::get_instance_replica_grouping(grouping, instance_replicas))
    throw tw::TraceError("the same groups expected");
  return is_cut;
}
static_assert(is_cut(1, 8, 4) && is_cut(4, 2, 4) && is_cut(2, 4, 4) && is_cut(1, 2, 1));
static_assert(!is_cut(1, 4, 4) && !is_cut(2, 2, 4) && !is_cut(1, 8, 8) && !is_cut(1, 1, 1));

// ---- groups in the older form

constexpr Numbers assignment_of(const tw::CommGroup& group) {
  Ir ir = ir_of(8);
  return group.to_replica_grouping(ir).assignment();
}
static_assert(assignment_of({tw::CommGroupType::All, 0}) == Numbers{0, 0, 0, 0, 0, 0, 0, 0});
static_assert(assignment_of({tw::CommGroupType::All, 3}) == Numbers{0, 0, 0, 0, 0, 0, 0, 0});
static_assert(assignment_of({tw::CommGroupType::Consecutive, 4}) == Numbers{0, 0, 0, 0, 1, 1, 1, 1});
static_assert(assignment_of({tw::CommGroupType::Orthogonal, 4}) == Numbers{0, 1, 0, 1, 0, 1, 0, 1});
static_assert(assignment_of({tw::CommGroupType::Ungrouped, 0}) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});

// ---- what is refused

/// The failure of a program with 8 replicas.
constexpr Text failure_of(auto program, std::int64_t replicas = 8) {
  Ir ir = ir_of(replicas, tw::OnError::record);
  program(ir);
  return ir.failure();
}
template <std::int64_t stride, std::int64_t size>
constexpr auto grouping = [](Ir& ir) { ir.replica_grouping(stride, size); };
TW_SAME(failure_of(grouping<0, 4>), "replica_grouping: stride 0 of 8 replicas: a divisor of the replication factor expected");
TW_SAME(failure_of(grouping<3, 2>), "replica_grouping: stride 3 of 8 replicas: a divisor of the replication factor expected");
TW_SAME(failure_of(grouping<16, 1>), "replica_grouping: stride 16 of 8 replicas: a divisor of the replication factor expected");
TW_SAME(failure_of(grouping<1, 0>), "replica_grouping: groups of 0 of 8 replicas: a group size from 1 to 8 expected");
TW_SAME(failure_of(grouping<1, 9>), "replica_grouping: groups of 9 of 8 replicas: a group size from 1 to 8 expected");
TW_SAME(failure_of(grouping<4, 4>),
        "replica_grouping: stride 4 and groups of 4 of 8 replicas: "
        "stride x group size that divides the replication factor expected");
TW_SAME(failure_of(grouping<1, 3>),
        "replica_grouping: stride 1 and groups of 3 of 8 replicas: "
        "stride x group size that divides the replication factor expected");

constexpr Text assignment_failure(const Numbers& assignment) {
  return failure_of([&](Ir& ir) { ir.replica_grouping_from_assignments(assignment); }, 4);
}
TW_SAME(assignment_failure({0, 0, 1}),
        "replica_grouping_from_assignments: [0, 0, 1] for 3 replicas: "
        "a group for each of 4 replicas expected");
TW_SAME(assignment_failure({0, 0, 0, 1}),
        "replica_grouping_from_assignments: [0, 0, 0, 1]: 3 replicas in group 0, "
        "1 in group 1: groups of equal size expected");
TW_SAME(assignment_failure({0, 2, 0, 2}),
        "replica_grouping_from_assignments: [0, 2, 0, 2]: group 2 where 1 would be the next: "
        "groups numbered from 0 in the order of their first replicas expected");
TW_SAME(assignment_failure({1, 0, 1, 0}),
        "replica_grouping_from_assignments: [1, 0, 1, 0]: group 1 where 0 would be the next: "
        "groups numbered from 0 in the order of their first replicas expected");
static_assert(!assignment_failure({-1, 0, 0, -1}).empty());

TW_SAME(failure_of([](Ir& ir) { ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1}).stride(); }),
        "replica_grouping: stride of ReplicaGrouping(num_replicas=8, assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, "
        "num_groups=2): a grouping with a constant stride expected");
TW_SAME(failure_of([](Ir& ir) { tw::CommGroup{tw::CommGroupType::Orthogonal, 3}.to_replica_grouping(ir); }),
        "CommGroup: groups of 3 of 8 replicas: a divisor of the replication factor expected");

TW_SAME(failure_of([](Ir& ir) { ir.set_replication_factor(0); }), "replication_factor: 0: from 1 to 64 expected");
TW_SAME(failure_of([](Ir& ir) { ir.set_replication_factor(65); }), "replication_factor: 65: from 1 to 64 expected");
static_assert(failure_of([](Ir& ir) { ir.set_replication_factor(64); }).empty());
constexpr auto factor_after_a_grouping = [](Ir& ir) {
  ir.replica_grouping();
  ir.set_replication_factor(8);  // the same
  ir.set_replication_factor(4);
};
TW_SAME(failure_of(factor_after_a_grouping),
        "replication_factor: 4 after replica groupings were made for 8: to be set before expected");
constexpr auto factor_after_a_variable = [](Ir& ir) {
  ir.variable(tw::zeros(), {}, tw::float32, "x");
  ir.set_replication_factor(4);
};
TW_SAME(failure_of(factor_after_a_variable), "replication_factor: 4 after variables were made for 8: to be set before expected");

// ---- collectives

namespace collectives = tw::ops::collectives;
using tw::CollectiveOperator, tw::GatheredShape, tw::Shape, tw::TensorSpec;

constexpr Text graph_of(auto program, std::int64_t replicas = 8) {
  Ir ir = ir_of(replicas);
  program(ir);
  return tw::print_schedule(ir.main_graph());
}
constexpr auto reductions = [](Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {3, 5}, tw::float16, "x");
  collectives::replicated_all_reduce_(collectives::replicated_all_reduce(x), {.op = CollectiveOperator::max});
  collectives::replicated_reduce_scatter(x, {.op = CollectiveOperator::mean, .group = ir.replica_grouping(4)});
};
TW_SAME(graph_of(reductions),
        "Graph : \n  () -> () {\n"
        "    ReplicatedAllReduce.100 (%1 [(3, 5) float16]) -> (%2 [(3, 5) float16])\n"
        "    ReplicatedAllReduceInplace.101 (%2 [(3, 5) float16]) -> (%3 [(3, 5) float16])\n"
        "    ReplicatedReduceScatter.102 (%1 [(3, 5) float16]) -> (%4 [(8,) float16])\n  }\n");
constexpr auto slices = [](Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {3, 8}, tw::int32, "x");
  const Tensor slice = collectives::replicated_slice(x, {.axis = -1});
  const Tensor gathered = collectives::replicated_all_gather(slice, {.axis = 1});
  collectives::replicated_all_gather(collectives::replica_sharded_slice(gathered));
};
TW_SAME(graph_of(slices),
        "Graph : \n  () -> () {\n"
        "    ReplicatedReduceScatter.100 (%1 [(3, 8) int32]) -> (%2 [(3, 1) int32])\n"
        "    ReplicatedAllGather.101 (%2 [(3, 1) int32]) -> (%3 [(3, 8) int32])\n"
        "    ReplicatedReduceScatter.102 (%3 [(3, 8) int32]) -> (%4 [(3,) int32])\n"
        "    ReplicatedAllGather.103 (%4 [(3,) int32]) -> (%5 [(3, 8) int32])\n  }\n");

/// The shape that a collective gives for a tensor, in groups of `group` of 8 replicas.
constexpr Shape shape_of(const Shape& shape, std::int64_t group, auto collective) {
  Ir ir = ir_of(8);
  return collective(ir.variable(tw::ones(), shape, tw::float32, "x"), ir.replica_grouping(1, group)).shape();
}
constexpr auto scatter = [](Tensor x, const ReplicaGrouping& group) {
  return collectives::replicated_reduce_scatter(x, {.group = group});
};
static_assert(shape_of({3, 5}, 8, scatter) == Shape{2} && shape_of({3, 5}, 4, scatter) == Shape{4});
static_assert(shape_of({3, 5}, 1, scatter) == Shape{15} && shape_of({}, 8, scatter) == Shape{1});
template <int axis>
constexpr auto slice =
    [](Tensor x, const ReplicaGrouping& group) { return collectives::replicated_slice(x, {.axis = axis, .group = group}); };
static_assert(shape_of({4, 6}, 2, slice<0>) == Shape{2, 6} && shape_of({4, 6}, 2, slice<1>) == Shape{4, 3});
static_assert(shape_of({4, 6}, 4, slice<-2>) == Shape{1, 6}, "the axis stays");
template <int axis, GatheredShape mode = GatheredShape::automatic>
constexpr auto gather = [](Tensor x, const ReplicaGrouping& group) {
  return collectives::replicated_all_gather(x, {.axis = axis, .group = group, .output_shape = mode});
};
static_assert(shape_of({4, 6}, 2, gather<0>) == Shape{8, 6} && shape_of({4, 6}, 2, gather<-1>) == Shape{4, 12});
static_assert(shape_of({4, 6}, 2, gather<0, GatheredShape::new_axis>) == Shape{2, 4, 6});
static_assert(shape_of({4, 6}, 2, gather<1, GatheredShape::new_axis>) == Shape{4, 2, 6});
static_assert(shape_of({4, 6}, 2, gather<2, GatheredShape::new_axis>) == Shape{4, 6, 2});
static_assert(shape_of({4, 6}, 2, gather<-1, GatheredShape::new_axis>) == Shape{4, 6, 2});
static_assert(shape_of({}, 2, gather<0, GatheredShape::new_axis>) == Shape{2});

constexpr bool a_program_without_replicas_has_groups_of_one() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x");
  return collectives::replicated_all_reduce(x).shape() == Shape{4} &&
         collectives::replicated_all_gather(collectives::replica_sharded_slice(x)).shape() == Shape{4};
}
static_assert(a_program_without_replicas_has_groups_of_one());

// ---- meta shapes

constexpr auto lamb_of_a_shard = [](Ir& ir) {
  const Tensor shard = ir.replica_sharded_variable(tw::ones(), {3, 8}, tw::float32, "w");
  tw::create_graph(tw::optim::Lamb(), shard, shard.spec(), tw::optim::LambParameters());
};
static_assert(failure_of(lamb_of_a_shard)
                  .view()
                  .starts_with("Lamb: Tensor[float32 (3,)], a shard of (3, 8): a weight whose "
                               "norm each replica can take expected"));

constexpr Text shards_know_what_they_are_parts_of() {
  Ir ir = ir_of(4);
  const Shape whole{3, 5};
  const Tensor x = ir.variable(tw::ones(), whole, tw::float32, "x"), y = ir.variable(tw::ones(), {15}, tw::float32, "y");
  const Tensor shard = collectives::replica_sharded_slice(x);
  const Tensor configured = collectives::replicated_reduce_scatter(x, {.configure_output_for_replicated_tensor_sharding = true});
  Facts facts;
  facts.check(shard.shape() == Shape{4} && shard.meta_shape() == whole, "replica_sharded_slice");
  facts.check(configured.meta_shape() == whole, "a configured reduce-scatter");
  facts.check(!x.meta_shape() && !collectives::replicated_reduce_scatter(x).meta_shape(), "whole tensors and others have none");
  facts.check((2 * shard).meta_shape() == whole, "number * shard");
  facts.check((shard + shard).meta_shape() == whole && (shard - configured).meta_shape() == whole, "two shards");
  facts.check(shard.cast(tw::float16).meta_shape() == whole, "cast");
  facts.check(shard.detach().meta_shape() == whole, "detach");
  facts.check(tw::ops::gelu(shard).meta_shape() == whole, "gelu");
  facts.check(collectives::replicated_all_reduce(shard).meta_shape() == whole, "replicated_all_reduce");
  facts.check(tw::ops::scaled_add_(shard, shard).meta_shape() == whole, "scaled_add_");
  facts.check(!tw::ops::sum(shard).meta_shape(), "no sum");
  facts.check(!shard.reshape({2, 2}).meta_shape(), "no other shape");
  facts.check(!(shard + ir.constant({1}, {2, 4})).meta_shape(), "nothing broadcast");
  facts.check(!(y + y).meta_shape(), "nothing else");
  facts.check(!collectives::replicated_all_gather(shard).meta_shape(), "not what was gathered");
  facts.check(collectives::replicated_all_gather(2 * shard).shape() == whole, "gathered to the whole");
  return facts.check(collectives::replicated_all_gather(shard, {.output_shape = GatheredShape::concat}).shape() == Shape{16},
                     "concatenated");
}
TW_SAME(shards_know_what_they_are_parts_of(), "");

constexpr Text graphs_take_and_give_shards() {
  Ir ir = ir_of(4);
  const Shape whole{3, 5};
  const Tensor shard = collectives::replica_sharded_slice(ir.variable(tw::ones(), whole, tw::float32, "x"));
  const tw::Graph twice = ir.create_graph([](Tensor t) { return t + t; }, shard);
  Facts facts;
  facts.check(twice.input(0).meta_shape() == whole, "input");
  facts.check(tw::call(twice, shard)[0].meta_shape() == whole, "output of a call");
  facts.check(tw::repeat(twice, 2, shard)[0].meta_shape() == whole, "output of a loop");
  const tw::GradGraphInfo gradient = tw::autodiff(ir.create_graph([](Tensor t) { return t * t; }, shard));
  for (const Tensor& input : gradient.graph().inputs()) facts.check(input.meta_shape() == whole, "input of a gradient");
  return facts.check(gradient.graph().output(0).meta_shape() == whole, "gradient");
}
TW_SAME(graphs_take_and_give_shards(), "");

// ---- replicated tensor sharding

/// Two variables of a module: one that two or four replicas can divide, and one that they cannot.
struct Weights : tw::Module<Weights> {
  constexpr Tensor build(Tensor x) {
    const tw::VariableInputOptions options{.replica_grouping = ir().replica_grouping(2)};
    return x * add_variable_input("even", tw::ones(), {2, 4}, tw::float32, options) + add_variable_input("odd", tw::ones(), {});
  }
};
struct Alone : tw::Module<Alone> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("even", tw::ones(), {2, 4}); }
};
constexpr Text factories_of_shards() {
  Ir ir = ir_of(8);
  const auto whole = tw::create_graph(ir, Weights(), TensorSpec{{2, 4}, tw::float32}).factories;
  const auto sharded = whole.replica_sharded(), halves = whole.replica_sharded(2);
  const auto variables = halves.init();
  Facts facts;
  facts.check(sharded["even"].spec().shape == Shape{2} && halves["even"].spec().shape == Shape{4}, "shapes of shards");
  facts.check(sharded["odd"].spec().shape == Shape{}, "a scalar stays whole");
  facts.check(variables["even"].meta_shape() == Shape{2, 4} && !variables["odd"].meta_shape(), "meta shapes");
  facts.check(variables["even"].shape_on_host() == Shape{2, 2, 4}, "each group has values of its own");
  facts.check(halves.replica_sharded()["even"].spec().shape == Shape{4}, "shards stay");
  facts.check(whole.replica_sharded(0, 9)["even"].spec().shape == Shape{2, 4}, "fewer elements than the threshold");
  facts.check(whole.replica_sharded(0, 8)["even"].spec().shape == Shape{2}, "as many elements as the threshold");
  facts.check(whole.replica_sharded({{"even", 2}})["even"].spec().shape == Shape{4}, "shards by name");
  facts.check(whole.replica_sharded({{"odd", 8}})["even"].spec().shape == Shape{2, 4}, "other names stay whole");
  const tw::NamedTensors zeros = halves.init_zero();
  facts.check(zeros["even"].shape() == Shape{4} && zeros["even"].meta_shape() == Shape{2, 4}, "shards that are no variables");
  const auto groups = tw::NamedReplicaGrouping::build_groups({"a.b", "c"}, ir.replica_grouping(2));
  facts.check(groups.len_flat() == 2 && groups["a.b"] == groups["c"] && groups["c"] == ir.replica_grouping(2), "one group");
  const tw::RemoteBuffer buffer = tw::named_buffers(variables, 3)["even"];
  facts.check(buffer.tensor_shape() == Shape{4} && buffer.meta_shape() == Shape{2, 4} && buffer.num_shards() == 2 &&
                  buffer.entries() == 3,
              "a buffer of shards");
  const tw::RemoteBuffer quarters = tw::create_remote_buffer(ir, TensorSpec{{2, 4}}, 5, ir.replica_grouping(), 4);
  facts.check(quarters.tensor_shape() == Shape{2} && quarters.num_shards() == 4 && quarters.entries() == 5, "quarters");
  facts.check(tw::create_remote_buffer(ir, TensorSpec{{2, 4}}).tensor_shape() == Shape{2, 4}, "a whole row");
  facts.check(whole.replica_groupings()["even"] == ir.replica_grouping(2), "a variable's group");
  facts.check(whole.replica_groupings()["odd"] == ir.replica_grouping(), "all replicas");
  facts.check(sharded.shard_groupings()["even"] == ir.replica_grouping(2), "as many shards as a group has");
  facts.check(halves.shard_groupings()["even"] == ir.replica_grouping(2, 2), "a copy of two shards");
  facts.check(halves.shard_groupings()["odd"] == ir.replica_grouping(1, 1), "no shards");
  const auto irregular = ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1});
  const tw::VariableFactory factory(ir, tw::ones(), {{2, 4}, tw::float32}, false, irregular);
  facts.check(factory.replica_sharded("w").shard_grouping() == irregular, "a group without a constant stride");
  const tw::VariableFactory each(ir, tw::in_turn(tw::values({1, 2, 3, 4, 5, 6})), {{}, tw::float32}, false,
                                 ir.replica_grouping(4));
  facts.check(each.create_tensor("first").shape_on_host() == Shape{4}, "one element for each of four groups");
  facts.check(ir.tables.variables.back().initialiser.values.size() == 4, "four of six values");
  Ir alone;
  const auto of_one = tw::create_graph(alone, Alone(), TensorSpec{{2, 4}, tw::float32}).factories.replica_sharded();
  return facts.check(of_one["even"].spec().shape == Shape{2, 4}, "one replica has all");
}
TW_SAME(factories_of_shards(), "");

constexpr Text means_of_groups() {
  Ir ir = ir_of(8);
  const auto [factories, forward] = tw::create_graph(ir, Weights(), TensorSpec{{2, 4}, tw::float32});
  const auto grouped = tw::autodiff_with_accumulation(forward, forward.args(), {}, factories.replica_groupings()).factories;
  const auto plain = tw::autodiff_with_accumulation(forward, forward.args()).factories;
  const tw::NamedTensors means = grouped.init("grouped"), whole = plain.init("plain");
  Facts facts;
  facts.check(means["accum.even"].shape_on_host() == factories.init()["even"].shape_on_host(), "an axis over groups");
  facts.check(means["accum.even"].shape_on_host() == Shape{2, 2, 4}, "two groups");
  facts.check(means["accum.odd"].shape_on_host() == Shape{} && means["mean_accum_counter"].shape_on_host() == Shape{},
              "one group");
  return facts.check(whole["accum.even"].shape_on_host() == Shape{2, 4}, "one group by default");
}
TW_SAME(means_of_groups(), "");

constexpr Text specs_of_shards() {
  Ir ir = ir_of(8);
  const Tensor x = ir.variable(tw::ones(), {3, 4}, tw::float16, "x");
  Facts facts;
  facts.check(tw::replica_sharded_spec(x, 4) == TensorSpec{{3}, tw::float16}, "a quarter");
  facts.check(tw::replica_sharded_spec(x, 8) == x.spec() && tw::replica_sharded_spec(x, 1) == x.spec(), "whole");
  facts.check(tw::replica_sharded_spec(x, ir.replica_grouping(4)) == TensorSpec{{6}, tw::float16}, "a group of two");
  const Tensor shard = tw::reduce_replica_sharded_tensor(x, {.replica_group = ir.replica_grouping(1, 4)});
  facts.check(shard.spec() == tw::replica_sharded_spec(x, 4) && shard.meta_shape() == x.shape(), "of a reduction");
  facts.check(tw::gather_replica_sharded_tensor(x) == x, "what is whole passes");
  return facts.check(tw::gather_replica_sharded_tensor(shard, ir.replica_grouping(1, 4)).shape() == x.shape(), "gathered");
}
TW_SAME(specs_of_shards(), "");

constexpr auto reductions_to_shards = [](Ir& ir) {
  const auto all = ir.replica_grouping(), pairs = ir.replica_grouping(1, 2);
  const auto tensors = tw::NamedTensors::from_dict({{"b", ir.variable(tw::ones(), {8}, tw::float32, "x")},
                                                    {"c", ir.variable(tw::ones(), {8}, tw::float32, "y")},
                                                    {"a.odd", ir.variable(tw::ones(), {7}, tw::float32, "z")}});
  tw::reduce_replica_sharded_graph(
      ir, tensors,
      {.op = CollectiveOperator::mean, .shard_groups = tw::NamedReplicaGrouping::from_dict({{"b", all}, {"c", pairs}})});
};
constexpr Text graph_of_reductions() {
  Ir ir = ir_of(8);
  reductions_to_shards(ir);
  return tw::print_schedule(tw::Graph(ir, tw::GraphId(1)));
}
TW_SAME(graph_of_reductions(),
        "Graph : reduce_replica_sharded_subgraph(0)\n  (%1, %2, %3) -> (%4, %5, %7) {\n"
        "    ReplicatedAllReduce.100 (%1 [(7,) float32]) -> (%4 [(7,) float32])\n"
        "    ReplicatedReduceScatter.101 (%2 [(8,) float32]) -> (%5 [(1,) float32])\n"
        "    ReplicatedAllReduce.102 (%3 [(8,) float32]) -> (%6 [(8,) float32])\n"
        "    ReplicatedReduceScatter.103 (%6 [(8,) float32]) -> (%7 [(4,) float32])\n  }\n");

constexpr Text graph_of_gathers() {
  Ir ir = ir_of(8);
  const auto tensors = tw::NamedTensors::from_dict(
      {{"whole", ir.variable(tw::ones(), {3}, tw::float32, "x")},
       {"shard", ir.replica_sharded_variable(tw::ones(), {3, 3}, tw::float32, "y", {.shard_over = 2})}});
  const auto [graph, names] = tw::all_gather_replica_sharded_graph(ir, tensors, ir.replica_grouping(1, 2));
  if (tw::join(names, " ") != "shard whole") throw tw::TraceError("the tensors' names expected");
  return graph.print_schedule();
}
TW_SAME(graph_of_gathers(),
        "Graph : all_gather_replica_sharded_subgraph(0)\n  (shard=%1, whole=%2) -> (%3, %2) {\n"
        "    ReplicatedAllGather.100 (%1 [(5,) float32]) -> (%3 [(3, 3) float32])\n  }\n");

// a collective does not decide on which tiles a variable is that it reads first
constexpr auto gathered_weight = [](Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor shard = ir.replica_sharded_variable(tw::ones(), {1024, 1024}, tw::float32, "w");
  const Tensor whole = collectives::replicated_all_gather(shard);
  tw::ops::host_store(ir.d2h_stream("y", {}), tw::ops::sum(whole));
};
static_assert(support::plan_of(gathered_weight, tw::ipu_model).memory.fullest_tile < 100'000, "1 MiB of a shard on 1,472 tiles");

// ---- gradients

constexpr Text gradient_of(auto build, const TensorSpec& spec) {
  Ir ir = ir_of(4);
  return tw::print_schedule(tw::autodiff(ir.create_graph(build, spec)).graph());
}
constexpr auto sliced = [](Tensor x) { return collectives::replicated_slice(x, {.axis = 1}); };
TW_SAME(gradient_of(sliced, {{3, 8}, tw::float32}),
        "Graph : graph_subgraph(0)_bwd\n  (%1) -> (%2) {\n"
        "    ReplicatedAllGather.101 (%1 [(3, 2) float32]) -> (%2 [(3, 8) float32])\n  }\n");
constexpr auto sharded = [](Tensor x) { return collectives::replica_sharded_slice(x); };
TW_SAME(gradient_of(sharded, {{3, 5}, tw::float32}),
        "Graph : graph_subgraph(0)_bwd\n  (%1) -> (%2) {\n"
        "    ReplicatedAllGather.101 (%1 [(4,) float32]) -> (%2 [(3, 5) float32])\n  }\n");
constexpr auto gathered = [](Tensor x) { return collectives::replicated_all_gather(x, {.axis = 1}); };
TW_SAME(gradient_of(gathered, {{3, 2}, tw::float32}),
        "Graph : graph_subgraph(0)_bwd\n  (%1) -> (%2) {\n"
        "    ReplicatedReduceScatter.101 (%1 [(3, 8) float32]) -> (%2 [(3, 2) float32])\n  }\n");
constexpr auto stacked = [](Tensor x) {
  return collectives::replicated_all_gather(x, {.axis = 1, .output_shape = GatheredShape::new_axis});
};
TW_SAME(gradient_of(stacked, {{3, 2}, tw::float32}),
        "Graph : graph_subgraph(0)_bwd\n  (%1) -> (%3) {\n"
        "    ReplicatedReduceScatter.101 (%1 [(3, 4, 2) float32]) -> (%2 [(3, 1, 2) float32])\n"
        "    Reshape.102 (%2 [(3, 1, 2) float32]) -> (%3 [(3, 2) float32])\n  }\n");

constexpr Text gradient_failure(auto build) {
  return failure_of([&](Ir& ir) { tw::autodiff(ir.create_graph(build, TensorSpec{{3, 5}, tw::float32})); }, 4);
}
TW_SAME(gradient_failure([](Tensor x) { return collectives::replicated_all_reduce(x); }),
        "autodiff of graph_subgraph(0): ReplicatedAllReduce.100 on (3, 5) float32 has no gradient: "
        "a differentiable op, or detach before it, expected");
TW_SAME(gradient_failure([](Tensor x) { return collectives::replicated_reduce_scatter(x); }),
        "ReplicatedReduceScatter: gradient of add of (3, 5) float32 over ReplicaGrouping(num_replicas=4, stride=1, "
        "group_size=4, num_groups=1), which has none: a slice, or a reduction outside of the graph, expected");
constexpr auto gathered_again = [](Tensor x) {
  return collectives::replicated_all_gather(collectives::replica_sharded_slice(x));
};
TW_SAME(gradient_failure(gathered_again),
        "ReplicatedAllGather: gradient of (4,) float32 over ReplicaGrouping(num_replicas=4, stride=1, group_size=4, "
        "num_groups=1) to (3, 5): shards that are gathered outside of the graph expected");

// ---- collectives that cannot be

/// The failure of a collective of a tensor with 8 replicas in groups of two.
constexpr Text collective_failure(const TensorSpec& spec, auto collective) {
  return failure_of([&](Ir& ir) { collective(ir.variable(tw::ones(), spec.shape, spec.dtype, "x"), ir.replica_grouping(1, 2)); });
}
constexpr std::string_view pairs = "ReplicaGrouping(num_replicas=8, stride=1, group_size=2, num_groups=4)";
constexpr auto reduce = [](Tensor x, const ReplicaGrouping& group) {
  return collectives::replicated_all_reduce(x, {.group = group});
};
constexpr auto reduce_local = [](Tensor x, const ReplicaGrouping& group) {
  return collectives::replicated_all_reduce_(x, {.op = CollectiveOperator::local, .group = group});
};
static_assert(collective_failure({{3, 5}, tw::boolean}, reduce) ==
              tw::text("ReplicatedAllReduce: add of (3, 5) bool over ", pairs,
                       ": a dtype other than bool and float8, or bool with logical_and or logical_or, expected"));
static_assert(collective_failure({{3, 5}, tw::float8_143}, scatter) ==
              tw::text("ReplicatedReduceScatter: add of (3, 5) float8_143 over ", pairs,
                       ": a dtype other than bool and float8, or bool with logical_and or logical_or, expected"));
static_assert(collective_failure({{3, 5}, tw::float32}, reduce_local) ==
              tw::text("ReplicatedAllReduceInplace: local of (3, 5) float32 over ", pairs, ": a reduction expected"));
static_assert(collective_failure({{4, 5}, tw::float32}, slice<1>) ==
              tw::text("ReplicatedReduceScatter: axis 1 of (4, 5) float32 over ", pairs,
                       ": an extent that the group size divides expected"));
TW_SAME(collective_failure({{4, 5}, tw::float32}, slice<2>),
        "ReplicatedReduceScatter: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected");
TW_SAME(collective_failure({{4, 5}, tw::float32}, gather<-3>),
        "ReplicatedAllGather: axis -3 of a tensor of rank 2: an axis from -2 to 1 expected");
TW_SAME(collective_failure({{4, 5}, tw::float32}, gather<3, GatheredShape::new_axis>),
        "ReplicatedAllGather: axis 3 of a tensor of rank 3: an axis from -3 to 2 expected");
static_assert(collective_failure({{1, 1, 1, 1, 1, 2}, tw::float32}, gather<0, GatheredShape::new_axis>) ==
              tw::text("ReplicatedAllGather: (1, 1, 1, 1, 1, 2) float32 over ", pairs,
                       " with a new axis: at most 5 axes expected"));
static_assert(collective_failure({{4, 5}, tw::float32}, gather<0, GatheredShape::meta_shape>) ==
              tw::text("replicated_all_gather: Tensor[x float32 (4, 5)] over ", pairs,
                       " to its meta shape: a tensor that has one expected"));
constexpr auto gather_of_other_shards = [](Tensor x, const ReplicaGrouping& group) {
  return collectives::replicated_all_gather(collectives::replica_sharded_slice(x), {.group = group});
};
static_assert(collective_failure({{4, 6}, tw::float32}, gather_of_other_shards) ==
              tw::text("ReplicatedAllGather: (3,) float32 over ", pairs,
                       " to (4, 6), which is in 8 parts: groups of 8 replicas expected"));
constexpr auto irregular_group = [](Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x");
  collectives::replicated_all_reduce_(x, {.group = ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1})});
};
TW_SAME(failure_of(irregular_group),
        "replicated_all_reduce_: Tensor[x float32 (4,)] over ReplicaGrouping(num_replicas=8, "
        "assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, num_groups=2): a grouping with a constant stride expected");
constexpr auto group_of_another_program = [](Ir& ir) {
  Ir other = ir_of(8);
  const Tensor x = ir.variable(tw::ones(), {4}, tw::float32, "x");
  collectives::replica_sharded_slice(x, other.replica_grouping(1, 2));
};
static_assert(failure_of(group_of_another_program) == tw::text("replica_sharded_slice: Tensor[x float32 (4,)] over ", pairs,
                                                               " of another Ir: a group of the tensor's Ir expected"));
constexpr auto shards_of_two_shapes = [](Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {3, 5}, tw::float32, "x"), y = ir.variable(tw::ones(), {5, 3}, tw::float32, "y");
  collectives::replica_sharded_slice(x) + collectives::replica_sharded_slice(y);
};
TW_SAME(failure_of(shards_of_two_shapes),
        "Add: (2,) of (3, 5) in 8 parts and of (5, 3) in 8 parts: shards of tensors of one shape in the same number of parts "
        "expected");

// ---- cost on the simulated machine: two links of 13.6 GB/s to each neighbour, which is 1.325 / 27.2 = 0.0487132 cycles a byte,
// and 600 cycles for each step

using tw::ReplicaGroups;

constexpr std::int64_t gather_cycles(std::int64_t bytes, const ReplicaGroups& groups) {
  return tw::internal::all_gather_traffic(bytes, groups, tw::ipu_model).cycles;
}
static_assert(gather_cycles(1 << 20, {8, 1, 1}) == 0 && gather_cycles(0, {8, 1, 8}) == 0);
static_assert(gather_cycles(1 << 20, {2, 1, 2}) == 600 + 25540, "2^19 x 0.0487132 = 25539.8");
static_assert(gather_cycles(1 << 10, {4, 1, 4}) == 2 * (600 + 13), "in the middle after 2 steps: 2^8 x 0.0487132 = 12.5");
static_assert(gather_cycles(1 << 20, {4, 1, 4}) == 3 * (600 + 6385), "around in 3 steps: 2^17 x 0.0487132 = 6384.9");
static_assert(gather_cycles(1 << 20, {8, 2, 4}) == 3 * (600 + 12770), "over two links: 2^18 x 0.0487132 = 12769.9");
static_assert(tw::internal::all_gather_traffic(1 << 20, {4, 1, 4}, tw::cpu) == tw::CollectiveTraffic{3 << 18, 0},
              "each replica passes on three quarters; the host counts no cycles");
// adding 2^18 bytes on 1,472 tiles: 178.1 bytes a tile, 4 vectors for a worker, 11 + 6 (58 + 3 x 4) cycles
static_assert(tw::internal::reduce_scatter_traffic(1 << 20, {4, 1, 4}, tw::ipu_model) ==
              tw::CollectiveTraffic{3 << 18, 3 * (600 + 6385 + 431)});
static_assert(tw::internal::all_reduce_traffic(1 << 20, {4, 1, 4}, tw::ipu_model) ==
              tw::CollectiveTraffic{6 << 18, 3 * (600 + 6385 + 431) + 3 * (600 + 6385)});

constexpr auto cycles_by_op = [] {
  Ir ir = ir_of(4);
  const Tensor x = ir.variable(tw::ones(), {512, 512}, tw::float32, "x");
  collectives::replicated_all_reduce(x);
  collectives::replicated_all_gather(collectives::replicated_reduce_scatter(x));
  collectives::replica_sharded_slice(x + x);
  std::array<std::int64_t, 5> cycles{};
  const auto& graph = ir.tables.record(tw::GraphId::main);
  const auto spec = [&](tw::TensorId tensor) { return graph.tensors[tensor].spec; };
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const tw::Node& node = graph.nodes[tw::NodeId(i)];
    if (!node.op->collective_volume) continue;
    const auto volume = node.op->collective_volume(node.attributes, spec(node.inputs[0]), spec(node.outputs[0]));
    cycles[i] = tw::internal::collective_traffic(volume, tw::ipu_model).cycles;
  }
  return cycles;
}();
static_assert(cycles_by_op == std::array<std::int64_t, 5>{3 * (2 * 6985 + 431), 3 * (6985 + 431), 3 * 6985, 0, 0});

}  // namespace
