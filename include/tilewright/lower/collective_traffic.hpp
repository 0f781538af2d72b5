#pragma once
// takes: a whole plan
// gives: CollectiveTraffic: what a run moves between replicas
// keeps: the plan
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/fold_bodies.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// What collectives cost on machines in a ring, after the older popops/Collectives.cpp of poplibs. A tensor of S bytes on each of
/// n machines goes around in n pieces, of which each machine passes on n - 1. There are two ways, of which the faster counts:
///  - two rings, one each way, each with one half of every piece: n - 1 steps of S / 2n bytes;
///  - meeting in the middle: pieces go both ways at a time, ceil(n / 2) steps of S / n bytes.
/// Two machines have one ring: one step of S / 2 bytes. In groups with a stride of s, a piece goes over s links to the next
/// member, and the pieces of s groups share each link. No more than that is known of where replicas are: the way back from a
/// group's last member to its first counts as one step like others.

namespace detail {
/// `per_step(bytes)` is what a machine computes with the bytes that came in a step.
constexpr CollectiveTraffic ring_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target, auto per_step) {
  const std::int64_t n = groups.group_size;
  if (n == 1 || bytes == 0) return {};
  CollectiveTraffic result{.bytes = (n - 1) * ((bytes + n - 1) / n)};
  if (target.replica_link.bytes_per_second == 0) return result;
  const auto steps = [&](std::int64_t count, std::int64_t pieces, std::int64_t ways) {
    const std::int64_t piece = (bytes + pieces - 1) / pieces;
    return count * (target.replica_link.cycles(piece * groups.stride, target.clock_hz) + per_step(ways * piece));
  };
  result.cycles = n == 2 ? steps(1, 2, 1) : std::min(steps(n - 1, 2 * n, 2), steps((n + 1) / 2, n, 2));
  return result;
}
}  // namespace detail

/// For a tensor of so many bytes that is reduced, each replica of a group getting a part of the result.
constexpr CollectiveTraffic reduce_scatter_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_traffic(bytes, groups, target,
                              [&](std::int64_t came) { return target.costs->addition(came, target.tiles); });
}
/// For a tensor of so many bytes that is gathered from its parts.
constexpr CollectiveTraffic all_gather_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_traffic(bytes, groups, target, [](std::int64_t) { return std::int64_t{0}; });
}
/// For a tensor of so many bytes that is reduced: scattered, then gathered.
constexpr CollectiveTraffic all_reduce_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  const CollectiveTraffic scatter = reduce_scatter_traffic(bytes, groups, target);
  const CollectiveTraffic gather = all_gather_traffic(bytes, groups, target);
  return {scatter.bytes + gather.bytes, scatter.cycles + gather.cycles};
}

/// For one run of a collective.
constexpr CollectiveTraffic collective_traffic(const CollectiveVolume& volume, const Target& target) {
  if (volume.reduces && volume.gathers) return all_reduce_traffic(volume.bytes, volume.groups, target);
  if (volume.reduces) return reduce_scatter_traffic(volume.bytes, volume.groups, target);
  if (volume.gathers) return all_gather_traffic(volume.bytes, volume.groups, target);
  return {};
}

/// What the collectives of a run move. A conditional counts with the branch that moves more.
constexpr CollectiveTraffic count_collective_traffic(const Plan& plan) {
  if (plan.replicas == 1) return {};
  const auto add_step = [&](CollectiveTraffic& all, int s) {
    const Step& step = plan.steps[s];
    if (step.kind != StepKind::collective) return;
    const CollectiveTraffic& traffic = plan.compute_sets[step.compute_set].traffic;
    all.bytes += traffic.bytes;
    all.cycles += traffic.cycles;
  };
  const auto add_call = [](CollectiveTraffic& all, std::int64_t times, const CollectiveTraffic& one,
                           const CollectiveTraffic& other) {
    detail::add_larger(all.bytes, times, one.bytes, other.bytes);
    detail::add_larger(all.cycles, times, one.cycles, other.cycles);
  };
  return detail::fold_bodies(plan, CollectiveTraffic{}, add_step, add_call);
}

}  // namespace tilewright::internal
