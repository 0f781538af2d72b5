#pragma once
#include "tilewright/program/replica_grouping.hpp"

namespace tilewright {

/// Type of a CommGroup: which replicas form a group.
enum class CommGroupType : std::uint8_t {
  All,  ///< all replicas
  Consecutive,  ///< neighbours: 0 to k-1, k to 2k-1, ...
  Orthogonal,  ///< replicas that are n/k apart
  Ungrouped  ///< each replica alone
};

/// Returns the name of a type: Consecutive.
[[nodiscard]] constexpr Text to_text(CommGroupType type) {
  switch (type) {
    case CommGroupType::All: return "All";
    case CommGroupType::Consecutive: return "Consecutive";
    case CommGroupType::Orthogonal: return "Orthogonal";
    case CommGroupType::Ungrouped: break;
  }
  return "Ungrouped";
}

/// PopXL's older description of a grouping of n replicas: a type and the size k of the groups. All and Ungrouped ignore k.
struct CommGroup {
  CommGroupType type = CommGroupType::All;
  std::int64_t replica_group_size = 0;

  /// Returns the grouping. Fails if the size does not divide the replication factor.
  constexpr ReplicaGrouping to_replica_grouping(Ir& ir) const {
    const std::int64_t replicas = ir.replication_factor(), size = replica_group_size;
    if (type == CommGroupType::All) return ir.replica_grouping();
    if (type == CommGroupType::Ungrouped) return ir.replica_grouping(1, 1);
    if (size < 1 || replicas % size != 0) {
      ir.fail(text("CommGroup: groups of ", size, " of ", replicas, " replicas: a divisor of the replication factor expected"));
      return ir.replica_grouping();
    }
    return ir.replica_grouping(type == CommGroupType::Consecutive ? 1 : replicas / size, size);
  }
};

}  // namespace tilewright
