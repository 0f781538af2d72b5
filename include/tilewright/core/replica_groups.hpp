#pragma once
#include <cstdint>

namespace tilewright {

/// Returns the number of elements in a shard if a tensor's elements are divided into `parts` runs. The last runs may be shorter,
/// or empty.
constexpr std::int64_t shard_elements(std::int64_t elements, std::int64_t parts) { return (elements + parts - 1) / parts; }

/// Returns whether `parts` is above 1 and divides the number of a tensor's elements. Otherwise replicated tensor sharding leaves
/// the tensor whole.
constexpr bool can_be_sharded(std::int64_t elements, std::int64_t parts) { return parts > 1 && elements % parts == 0; }

/// A ReplicaGrouping of constant stride as plain numbers, for attributes of ops and for kernels: neighbouring replicas of a group
/// are `stride` apart.
struct ReplicaGroups {
  std::int64_t num_replicas = 1;
  std::int64_t stride = 1;
  std::int64_t group_size = 1;

  constexpr std::int64_t num_groups() const { return num_replicas / group_size; }
  constexpr std::int64_t group_of(std::int64_t replica) const {
    return replica % stride + stride * (replica / (stride * group_size));
  }
  constexpr std::int64_t member(std::int64_t group, std::int64_t i) const {
    return group / stride * (stride * group_size) + group % stride + i * stride;
  }
  constexpr std::int64_t index_in_group(std::int64_t replica) const { return replica / stride % group_size; }
  constexpr bool operator==(const ReplicaGroups&) const = default;
};

}  // namespace tilewright
