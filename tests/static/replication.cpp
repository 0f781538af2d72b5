// Replica groupings, and collectives as they are traced.
#include "models.hpp"
#include "tilewright/graph/comm_group.hpp"
#include "tilewright/tilewright.hpp"

namespace {

using tw::Ir, tw::ReplicaGrouping, tw::Tensor, tw::Text;
using Numbers = std::vector<int>;

constexpr Ir ir_of(std::int64_t replicas, tw::OnError on_error = tw::OnError::raise) {
  Ir ir(on_error);
  ir.set_replication_factor(replicas);
  return ir;
}

// ---- groupings with a constant stride

constexpr bool is_grouping(std::int64_t replicas, std::int64_t stride, std::int64_t size, const Numbers& assignment) {
  Ir ir = ir_of(replicas);
  const ReplicaGrouping grouping = ir.replica_grouping(stride, size);
  bool right = grouping.is_const() && grouping.const_rg() == grouping && grouping.to_device_map().empty() &&
               grouping.to_host_map().empty();
  right = right && grouping.num_replicas() == replicas && grouping.stride() == (size == 1 ? 1 : stride);
  right = right && grouping.group_size() == size && grouping.num_groups() == replicas / size;
  right = right && grouping.assignment() == assignment && ir.replica_grouping_from_assignments(assignment) == grouping;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    right = right && grouping.member(grouping.group_of(replica), grouping.index_in_group(replica)) == replica;
  return right && grouping.transpose().transpose() == grouping;
}
static_assert(is_grouping(1, 1, 1, {0}));
static_assert(is_grouping(8, 1, 8, {0, 0, 0, 0, 0, 0, 0, 0}));
static_assert(is_grouping(8, 1, 4, {0, 0, 0, 0, 1, 1, 1, 1}));
static_assert(is_grouping(8, 1, 2, {0, 0, 1, 1, 2, 2, 3, 3}));
static_assert(is_grouping(8, 1, 1, {0, 1, 2, 3, 4, 5, 6, 7}));
static_assert(is_grouping(8, 2, 4, {0, 1, 0, 1, 0, 1, 0, 1}));
static_assert(is_grouping(8, 4, 2, {0, 1, 2, 3, 0, 1, 2, 3}));
static_assert(is_grouping(8, 2, 2, {0, 1, 0, 1, 2, 3, 2, 3}));
static_assert(is_grouping(8, 4, 1, {0, 1, 2, 3, 4, 5, 6, 7}), "a group of one has a stride of 1");
static_assert(is_grouping(12, 2, 3, {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
static_assert(is_grouping(6, 3, 2, {0, 1, 2, 0, 1, 2}));

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
static_assert(printed(8, 2, 4) == "ReplicaGrouping(num_replicas=8, stride=2, group_size=4, num_groups=2)");
static_assert(printed(8, 1, 8) == "ReplicaGrouping(num_replicas=8, stride=1, group_size=8, num_groups=1)");

// ---- from assignments

constexpr Text printed(const Numbers& assignment) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  return to_text(ir.replica_grouping_from_assignments(assignment));
}
static_assert(printed({0, 0, 1, 1, 0, 0, 1, 1}) ==
              "ReplicaGrouping(num_replicas=8, assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, num_groups=2)");

constexpr bool is_irregular(const Numbers& assignment, const Numbers& const_rg, const Numbers& device_map,
                            const Numbers& host_map) {
  Ir ir = ir_of(static_cast<std::int64_t>(assignment.size()));
  const ReplicaGrouping grouping = ir.replica_grouping_from_assignments(assignment);
  bool right = !grouping.is_const() && grouping.group_size() == 4;
  right = right && grouping.assignment() == assignment && grouping == ir.replica_grouping_from_assignments(assignment);
  for (std::int64_t replica = 0; replica < grouping.num_replicas(); ++replica)
    right = right && grouping.member(grouping.group_of(replica), grouping.index_in_group(replica)) == replica;
  right = right && grouping.const_rg().is_const() && grouping.const_rg().assignment() == const_rg;
  return right && grouping.to_device_map() == device_map && grouping.to_host_map() == host_map;
}
static_assert(is_irregular({0, 0, 1, 1, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 0, 1}, {0, 1}));
static_assert(is_irregular({0, 1, 1, 0, 0, 1, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 1, 0, 0, 1, 1, 0}, {0, 1}));
static_assert(is_irregular({0, 1, 0, 1, 0, 1, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 0, 1, 0, 1, 1, 0}, {0, 1}),
              "replicas 4 and 6 are in different groups");
static_assert(is_irregular({0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}, {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7},
                           {0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 2, 3}));

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
static_assert(failure_of(grouping<0, 4>) ==
              "replica_grouping: stride 0 of 8 replicas: a divisor of the replication factor expected");
static_assert(failure_of(grouping<3, 2>) ==
              "replica_grouping: stride 3 of 8 replicas: a divisor of the replication factor expected");
static_assert(failure_of(grouping<16, 1>) ==
              "replica_grouping: stride 16 of 8 replicas: a divisor of the replication factor expected");
static_assert(failure_of(grouping<1, 0>) == "replica_grouping: groups of 0 of 8 replicas: a group size from 1 to 8 expected");
static_assert(failure_of(grouping<1, 9>) == "replica_grouping: groups of 9 of 8 replicas: a group size from 1 to 8 expected");
static_assert(failure_of(grouping<4, 4>) ==
              "replica_grouping: stride 4 and groups of 4 of 8 replicas: "
              "stride x group size that divides the replication factor expected");
static_assert(failure_of(grouping<1, 3>) ==
              "replica_grouping: stride 1 and groups of 3 of 8 replicas: "
              "stride x group size that divides the replication factor expected");

constexpr Text assignment_failure(const Numbers& assignment) {
  return failure_of([&](Ir& ir) { ir.replica_grouping_from_assignments(assignment); }, 4);
}
static_assert(assignment_failure({0, 0, 1}) ==
              "replica_grouping_from_assignments: [0, 0, 1] for 3 replicas: "
              "a group for each of 4 replicas expected");
static_assert(assignment_failure({0, 0, 0, 1}) ==
              "replica_grouping_from_assignments: [0, 0, 0, 1]: 3 replicas in group 0, "
              "1 in group 1: groups of equal size expected");
static_assert(assignment_failure({0, 2, 0, 2}) ==
              "replica_grouping_from_assignments: [0, 2, 0, 2]: group 2 where 1 would be the next: "
              "groups numbered from 0 in the order of their first replicas expected");
static_assert(assignment_failure({1, 0, 1, 0}) ==
              "replica_grouping_from_assignments: [1, 0, 1, 0]: group 1 where 0 would be the next: "
              "groups numbered from 0 in the order of their first replicas expected");
static_assert(!assignment_failure({-1, 0, 0, -1}).empty());

static_assert(failure_of([](Ir& ir) { ir.replica_grouping_from_assignments({0, 0, 1, 1, 0, 0, 1, 1}).stride(); }) ==
              "replica_grouping: stride of ReplicaGrouping(num_replicas=8, assignment=[0, 0, 1, 1, 0, 0, 1, 1], group_size=4, "
              "num_groups=2): a grouping with a constant stride expected");
static_assert(failure_of([](Ir& ir) { tw::CommGroup{tw::CommGroupType::Orthogonal, 3}.to_replica_grouping(ir); }) ==
              "CommGroup: groups of 3 of 8 replicas: a divisor of the replication factor expected");

static_assert(failure_of([](Ir& ir) { ir.set_replication_factor(0); }) == "replication_factor: 0: from 1 to 64 expected");
static_assert(failure_of([](Ir& ir) { ir.set_replication_factor(65); }) == "replication_factor: 65: from 1 to 64 expected");
static_assert(failure_of([](Ir& ir) { ir.set_replication_factor(64); }).empty());
constexpr auto factor_after_a_grouping = [](Ir& ir) {
  ir.replica_grouping();
  ir.set_replication_factor(8);  // the same
  ir.set_replication_factor(4);
};
static_assert(failure_of(factor_after_a_grouping) ==
              "replication_factor: 4 after replica groupings were made for 8: to be set before expected");
constexpr auto factor_after_a_variable = [](Ir& ir) {
  ir.variable(tw::zeros(), {}, tw::float32, "x");
  ir.set_replication_factor(4);
};
static_assert(failure_of(factor_after_a_variable) ==
              "replication_factor: 4 after variables were made for 8: to be set before expected");

}  // namespace
