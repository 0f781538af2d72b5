#pragma once
#include <algorithm>

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

/// Cycles for one run of a collective, or 0 for another op. A slice costs nothing: each replica has the whole.
constexpr std::int64_t collective_cycles(const OpTag* op, const PackedAttributes& attributes, const TensorSpec& in,
                                         const TensorSpec& out, const Target& target) {
  if (op == &op_tag<ReplicatedAllReduce> || op == &op_tag<ReplicatedAllReduceInplace>)
    return all_reduce_cycles(in.bytes(), unpack<ReplicatedAllReduce::Attributes>(attributes).groups, target);
  if (op == &op_tag<ReplicatedAllGather>)
    return all_gather_cycles(out.bytes(), unpack<ReplicatedAllGather::Attributes>(attributes).groups, target);
  if (op != &op_tag<ReplicatedReduceScatter>) return 0;
  const auto scatter = unpack<ReplicatedReduceScatter::Attributes>(attributes);
  if (static_cast<CollectiveOperator>(scatter.op) == CollectiveOperator::local) return 0;
  return reduce_scatter_cycles(in.bytes(), scatter.groups, target);
}

}  // namespace tilewright
