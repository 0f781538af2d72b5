#pragma once
// takes: a whole plan
// gives: CollectiveTraffic: data that a run moves between replicas; Plan::step_cycles, its cycles
// keeps: all else of the plan
#include <cstdint>

#include "tilewright/lower/program/fold_bodies.hpp"
#include "tilewright/target/ipu_link_cycles.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {
constexpr CollectiveTraffic ring_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target, bool reduces) {
  const std::int64_t n = groups.group_size;
  if (n == 1 || bytes == 0) return {};
  CollectiveTraffic result{.bytes = (n - 1) * ((bytes + n - 1) / n)};
  if (target.ipu != nullptr)  // the host's cycles are not counted
    result.cycles = collective_cycles(*target.ipu, target.tiles, bytes, groups, reduces).cycles;
  return result;
}
}  // namespace detail

/// Returns the traffic of a tensor of `bytes` bytes that is reduced, with a part of the result on each replica of a group.
constexpr CollectiveTraffic reduce_scatter_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_traffic(bytes, groups, target, true);
}
/// Returns the traffic of a tensor of `bytes` bytes that is gathered from its parts.
constexpr CollectiveTraffic all_gather_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_traffic(bytes, groups, target, false);
}
/// Returns the traffic of a tensor of `bytes` bytes that is reduced: scattered, then gathered.
constexpr CollectiveTraffic all_reduce_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  const CollectiveTraffic scatter = reduce_scatter_traffic(bytes, groups, target);
  const CollectiveTraffic gather = all_gather_traffic(bytes, groups, target);
  return {scatter.bytes + gather.bytes, scatter.cycles + gather.cycles};
}

/// Returns the traffic of one run of a collective.
constexpr CollectiveTraffic collective_traffic(const CollectiveVolume& volume, const Target& target) {
  if (volume.reduces && volume.gathers) return all_reduce_traffic(volume.bytes, volume.groups, target);
  if (volume.reduces) return reduce_scatter_traffic(volume.bytes, volume.groups, target);
  if (volume.gathers) return all_gather_traffic(volume.bytes, volume.groups, target);
  return {};
}

/// Returns the traffic of a run's collectives. In a conditional, the branch that moves more counts.
constexpr CollectiveTraffic count_collective_traffic(Plan& plan) {
  if (plan.replicas == 1) return {};
  const auto add_step = [&](CollectiveTraffic& all, int s) {
    const Step& step = plan.steps[s];
    if (step.kind != StepKind::collective) return;
    const CollectiveTraffic& traffic = plan.compute_sets[step.compute_set].traffic;
    all.bytes += traffic.bytes;
    all.cycles += traffic.cycles;
    if (!plan.step_cycles.empty()) plan.step_cycles[s].collectives = traffic.cycles;
  };
  const auto add_call = [](CollectiveTraffic& all, std::int64_t times, const CollectiveTraffic& one,
                           const CollectiveTraffic& other) {
    detail::add_larger(all.bytes, times, one.bytes, other.bytes);
    detail::add_larger(all.cycles, times, one.cycles, other.cycles);
  };
  return detail::fold_bodies(plan, CollectiveTraffic{}, add_step, add_call);
}

}  // namespace tilewright::internal
