#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/replica_groups.hpp"
#include "tilewright/target/cycle_count.hpp"
#include "tilewright/target/ipu_cycles.hpp"

// Cycles of what moves between machines in a ring, after poplibs' popops/Collectives.cpp of 2019 and its link model. A tensor of
// S bytes on each of n machines goes around in n pieces, of which each machine passes on n - 1.

namespace tilewright {

enum class RingScheme : std::uint8_t {
  one_way,  ///< one ring: n - 1 steps of S / n bytes
  two_ways,  ///< two rings, one in each direction, each with one half of every piece: n - 1 steps of S / 2n bytes
  middle  ///< pieces travel in both directions and meet in the middle: ceil(n / 2) steps of S / n bytes
};

/// Returns the cycles of bytes from machine to machine: sync + bytes / (links x bandwidth). Published: 16 GB/s by 0.85 for a
/// link.
constexpr CycleCount link_cycles(const IpuModel& model, std::int64_t bytes, std::int64_t links) {
  const std::int64_t cycles = model.link.cycles(bytes, model.clock_hz, links);
  return cycles == 0 ? CycleCount()
                     : CycleCount(model.link.sync_cycles) +
                           CycleCount(cycles - model.link.sync_cycles, model.link.bytes_per_second.confidence);
}

/// Returns the cycles of a copy from one IPU of a replica to another: over the links of their pair, or over those between
/// neighbours, which forward the data at the same time. `from` and `to` are their numbers along the ladder. Assumed: these links
/// are otherwise idle.
constexpr CycleCount ipu_copy_cycles(const IpuModel& model, std::int64_t bytes, int from, int to) {
  const bool are_pair = from / 2 == to / 2;
  return link_cycles(model, bytes, are_pair ? model.link.pair_links : model.link.links);
}

/// Returns the cycles of a ring collective. `bytes`: the whole tensor, of which each machine has a part after a reduction or
/// before a gather. In groups with a stride of s, a piece passes s links to the next member, and the pieces of s groups share
/// each link. A reduction adds the data of each step to the machine's own. The path from a group's last member to its first
/// counts like any other.
constexpr CycleCount ring_cycles(const IpuModel& model, std::int64_t tiles, std::int64_t bytes, const ReplicaGroups& groups,
                                 RingScheme scheme, bool reduces) {
  const std::int64_t n = groups.group_size;
  if (n == 1 || bytes == 0) return {};
  const std::int64_t count = scheme == RingScheme::middle ? (n + 1) / 2 : n - 1;
  const std::int64_t ways = scheme == RingScheme::one_way ? 1 : 2;
  const std::int64_t piece = ceil_divide(bytes, scheme == RingScheme::two_ways ? 2 * n : n);
  CycleCount step = link_cycles(model, piece * groups.stride, model.link.links);
  if (reduces) step += add_in_place_cycles(model, ceil_divide(ways * piece, tiles));
  return count * step;
}

/// Returns the cycles of the faster scheme by these formulas; poplibs' thresholds may choose another.
constexpr CycleCount fastest_ring_cycles(const IpuModel& model, std::int64_t tiles, std::int64_t bytes,
                                         const ReplicaGroups& groups, bool reduces) {
  const auto by = [&](RingScheme scheme) { return ring_cycles(model, tiles, bytes, groups, scheme, reduces); };
  if (groups.group_size <= 2) return by(RingScheme::one_way);
  const CycleCount around = by(RingScheme::two_ways), middle = by(RingScheme::middle);
  return middle.cycles < around.cycles ? middle : around;
}

/// Returns the cycles of a collective of `bytes` bytes on each machine over groups that may be larger than the number of linked
/// machines. Pieces are reduced among linked machines, and then in a ring over the gateways of these pods. Assumed for such
/// groups.
constexpr CycleCount collective_cycles(const IpuModel& model, std::int64_t tiles, std::int64_t bytes, const ReplicaGroups& groups,
                                       bool reduces) {
  const std::int64_t linked = std::max<std::int64_t>(1, model.link.linked_ipus / groups.stride);
  if (groups.group_size <= linked || model.link.gateway_bytes_per_second == 0)
    return fastest_ring_cycles(model, tiles, bytes, groups, reduces);
  const std::int64_t pods = ceil_divide(groups.group_size, linked);
  IpuModel gateway = model;
  gateway.link.bytes_per_second = Figure(model.link.gateway_bytes_per_second, Confidence::assumed, "");
  gateway.link.links = 1;
  return fastest_ring_cycles(model, tiles, bytes, {groups.num_replicas, groups.stride, linked}, reduces) +
         ring_cycles(gateway, tiles, ceil_divide(bytes, linked), {pods, 1, pods}, RingScheme::one_way, reduces);
}

}  // namespace tilewright
