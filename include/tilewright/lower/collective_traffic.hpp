#pragma once
// takes: a whole plan
// gives: CollectiveTraffic: what a run moves between replicas
// keeps: the plan
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/collectives.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

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
/// Adding to bytes that are spread over the tiles, in vectors of 8: 11 + 6 (58 + 3 vectors of each of 6 workers), popops'
/// estimate of a binary op in place.
constexpr std::int64_t reduction_cycles(std::int64_t bytes, const Target& target) {
  const std::int64_t of_workers = 6 * 8 * target.tiles;
  return 11 + 6 * (58 + 3 * ((bytes + of_workers - 1) / of_workers));
}
}  // namespace detail

/// For a tensor of so many bytes that is reduced, each replica of a group getting a part of the result.
constexpr CollectiveTraffic reduce_scatter_traffic(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_traffic(bytes, groups, target, [&](std::int64_t came) { return detail::reduction_cycles(came, target); });
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

/// For one run of a collective; nothing for another op. A slice costs nothing: each replica has the whole.
constexpr CollectiveTraffic collective_traffic(const OpTag* op, const PackedAttributes& attributes, const TensorSpec& in,
                                               const TensorSpec& out, const Target& target) {
  if (op == &op_tag<ReplicatedAllReduce> || op == &op_tag<ReplicatedAllReduceInplace>)
    return all_reduce_traffic(in.bytes(), unpack<ReplicatedAllReduce::Attributes>(attributes).groups, target);
  if (op == &op_tag<ReplicatedAllGather>)
    return all_gather_traffic(out.bytes(), unpack<ReplicatedAllGather::Attributes>(attributes).groups, target);
  if (op != &op_tag<ReplicatedReduceScatter>) return {};
  const auto scatter = unpack<ReplicatedReduceScatter::Attributes>(attributes);
  if (static_cast<CollectiveOperator>(scatter.op) == CollectiveOperator::local) return {};
  return reduce_scatter_traffic(in.bytes(), scatter.groups, target);
}

/// What the collectives of a run move. A conditional counts with the branch that moves more.
constexpr CollectiveTraffic count_collective_traffic(const Plan& plan, const Target& target) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  if (plan.replicas == 1) return {};
  List<CollectiveTraffic> of_body(plan.bodies.size());
  for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const Step& step = plan.steps[at(plan.bodies[b].first_step + s)];
      CollectiveTraffic traffic;
      if (step.is_call()) {
        const CollectiveTraffic& one = of_body[at(step.body)];
        const CollectiveTraffic& other = of_body[at(step.else_body < 0 ? step.body : step.else_body)];
        traffic = {step.count * std::max(one.bytes, other.bytes), step.count * std::max(one.cycles, other.cycles)};
      } else if (step.kind == StepKind::collective) {
        const Stage& stage = plan.stages[at(plan.compute_sets[at(step.compute_set)].first_stage)];
        const ViewSpec& in = plan.operands[at(stage.first_operand)].view;
        const ViewSpec& out = plan.operands[at(stage.first_operand + 1)].view;
        traffic = collective_traffic(stage.op, stage.attributes, {in.shape, in.dtype}, {out.shape, out.dtype}, target);
      }
      of_body[b].bytes += traffic.bytes;
      of_body[b].cycles += traffic.cycles;
    }
  return of_body[0];
}

}  // namespace tilewright
