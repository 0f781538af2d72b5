#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/collectives.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// What collectives cost on machines in a ring, after poplibs' older popops/Collectives.cpp. A tensor of S bytes on each of n
/// machines goes around in n pieces. There are two ways, of which the faster counts:
///  - two rings, one each way, each with one half of every piece: n - 1 steps of S / 2n bytes;
///  - meeting in the middle: pieces go both ways at a time, ceil(n / 2) steps of S / n bytes.
/// Two machines have one ring: one step of S / 2 bytes. In groups with a stride of s, a piece goes over s links to the next
/// member, and the pieces of s groups share each link. No more than that is known of where replicas are: the way back from a
/// group's last member to its first counts as one step like others.

namespace detail {
/// `per_step(bytes)` is what a machine computes with the bytes that came in a step.
constexpr std::int64_t ring_cycles(std::int64_t bytes, const ReplicaGroups& groups, const Target& target, auto per_step) {
  const std::int64_t n = groups.group_size;
  if (n == 1 || target.ipu_link.bytes_per_second == 0 || bytes == 0) return 0;
  const auto steps = [&](std::int64_t count, std::int64_t pieces, std::int64_t ways) {
    const std::int64_t piece = (bytes + pieces - 1) / pieces;
    return count * (target.ipu_link.cycles(piece * groups.stride, target.clock_hz) + per_step(ways * piece));
  };
  if (n == 2) return steps(1, 2, 1);
  return std::min(steps(n - 1, 2 * n, 2), steps((n + 1) / 2, n, 2));
}
/// Adding to a piece that is spread over the tiles, in vectors of 8 bytes: 11 + 6 (58 + 3 vectors of each of 6 workers), popops'
/// estimate of a binary op in place.
constexpr std::int64_t reduction_cycles(std::int64_t bytes, const Target& target) {
  const std::int64_t of_workers = 6 * 8 * target.tiles;
  return 11 + 6 * (58 + 3 * ((bytes + of_workers - 1) / of_workers));
}
}  // namespace detail

/// Cycles for a tensor of so many bytes that is reduced, each machine of a group having a part of the result.
constexpr std::int64_t reduce_scatter_cycles(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_cycles(bytes, groups, target, [&](std::int64_t piece) { return detail::reduction_cycles(piece, target); });
}
/// Cycles for a tensor of so many bytes that is gathered from its parts.
constexpr std::int64_t all_gather_cycles(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return detail::ring_cycles(bytes, groups, target, [](std::int64_t) { return std::int64_t{0}; });
}
/// Cycles for a tensor of so many bytes that is reduced: scattered, then gathered.
constexpr std::int64_t all_reduce_cycles(std::int64_t bytes, const ReplicaGroups& groups, const Target& target) {
  return reduce_scatter_cycles(bytes, groups, target) + all_gather_cycles(bytes, groups, target);
}

/// One run of a collective; nothing for another op. A slice costs nothing: each replica has the whole.
constexpr CollectiveTraffic collective_traffic(const OpTag* op, const PackedAttributes& attributes, const TensorSpec& in,
                                               const TensorSpec& out, const Target& target) {
  const auto all_but_one = [](std::int64_t bytes, const ReplicaGroups& groups) {  // parts of a tensor that a replica gives on
    return (groups.group_size - 1) * ((bytes + groups.group_size - 1) / groups.group_size);
  };
  if (op == &op_tag<ReplicatedAllReduce> || op == &op_tag<ReplicatedAllReduceInplace>) {
    const ReplicaGroups groups = unpack<ReplicatedAllReduce::Attributes>(attributes).groups;
    return {2 * all_but_one(in.bytes(), groups), all_reduce_cycles(in.bytes(), groups, target)};
  }
  if (op == &op_tag<ReplicatedAllGather>) {
    const ReplicaGroups groups = unpack<ReplicatedAllGather::Attributes>(attributes).groups;
    return {all_but_one(out.bytes(), groups), all_gather_cycles(out.bytes(), groups, target)};
  }
  if (op != &op_tag<ReplicatedReduceScatter>) return {};
  const auto scatter = unpack<ReplicatedReduceScatter::Attributes>(attributes);
  if (static_cast<CollectiveOperator>(scatter.op) == CollectiveOperator::local) return {};
  return {all_but_one(in.bytes(), scatter.groups), reduce_scatter_cycles(in.bytes(), scatter.groups, target)};
}

/// What the collectives of a run move. A conditional counts with the branch that moves more.
constexpr CollectiveTraffic count_collective_traffic(const Plan& plan, const Target& target) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  if (plan.replicas == 1) return {};
  std::vector<CollectiveTraffic> of_body(plan.bodies.size());
  for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const Step& step = plan.steps[at(plan.bodies[b].first_step + s)];
      CollectiveTraffic traffic;
      if (step.is_call()) {
        const CollectiveTraffic& one = of_body[at(step.target)];
        const CollectiveTraffic& other = of_body[at(step.else_target < 0 ? step.target : step.else_target)];
        traffic = {step.count * std::max(one.bytes, other.bytes), step.count * std::max(one.cycles, other.cycles)};
      } else if (step.kind == StepKind::collective) {
        const Stage& stage = plan.stages[at(plan.compute_sets[at(step.target)].first_stage)];
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
