#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/program_view.hpp"

namespace tilewright {

/// Returns the spec of the host's array for a variable of a frozen plan or a ProgramView: the tensors of all groups of replicas,
/// or of all replicas, along a first axis, which is omitted for one tensor. For a sharded variable, these are the whole tensors.
constexpr TensorSpec host_spec(const auto& plan, std::size_t v) {
  const auto& variable = plan.variables[v];
  const std::int64_t tensors = variable.distribution.all_replicas ? plan.replicas : variable.distribution.groups;
  if (tensors == 1) return {variable.distribution.shape, variable.spec.dtype};
  TensorSpec spec{{tensors}, variable.spec.dtype};
  for (int axis = 0; axis < variable.distribution.shape.rank; ++axis) spec.shape.push_back(variable.distribution.shape[axis]);
  return spec;
}

/// Returns the group of a replica for a variable of a frozen plan or a ProgramView.
[[nodiscard]] constexpr std::size_t group_of(const auto& plan, const auto& variable, int replica) {
  const auto assignment = plan.numbers(variable.assignment);  // empty if there is but one group
  return assignment.empty() ? 0 : static_cast<std::size_t>(assignment[static_cast<std::size_t>(replica)]);
}

/// A replica's part of a variable.
struct ReplicaPart {
  int replica = 0;
  std::size_t offset = 0, bytes = 0;  ///< in the host's array
  bool is_read = true;  ///< whether the host gets it from this replica: the first replica with this part
  bool is_written = true;  ///< whether this replica gets it from the host
};

/// Returns the parts of all replicas. A replica has one part. Its shard of a variable with RetrievalMode::all_replicas is a part
/// of several tensors of the host's array: those of all replicas that gather the shard. The replica gets it from its own.
[[gnu::cold, gnu::noinline]] inline List<ReplicaPart> replica_parts(const internal::ProgramView& program, std::size_t v) {
  List<ReplicaPart> parts;
  const internal::FrozenVariable& variable = program.variables[v];
  const auto& [shape, groups, shard_over, all_replicas] = variable.distribution;
  const std::int64_t tensor_bytes = TensorSpec{shape, variable.spec.dtype}.bytes(), shard_bytes = variable.spec.bytes();
  for (int replica = 0; replica < program.replicas; ++replica) {
    const std::size_t group = group_of(program, variable, replica);
    std::int64_t index = 0;  // in its group
    for (int other = 0; other < replica; ++other) index += group_of(program, variable, other) == group;
    const std::int64_t first = index % shard_over * shard_bytes;  // the last parts may be short, or empty
    const std::int64_t bytes = std::clamp<std::int64_t>(tensor_bytes - first, 0, shard_bytes);
    const auto part_of = [&](std::int64_t tensor) {
      return ReplicaPart{.replica = replica,
                         .offset = static_cast<std::size_t>(tensor * tensor_bytes + (bytes > 0 ? first : 0)),
                         .bytes = static_cast<std::size_t>(bytes),
                         .is_read = all_replicas || index < shard_over,
                         .is_written = !all_replicas || tensor == replica};
    };
    if (!all_replicas) {
      parts.push_back(part_of(static_cast<std::int64_t>(group)));
      continue;
    }
    std::int64_t other_index = 0;  // in its group
    for (int other = 0; other < program.replicas; ++other)
      if (group_of(program, variable, other) == group && other_index++ / shard_over == index / shard_over)
        parts.push_back(part_of(other));
  }
  return parts;
}

}  // namespace tilewright
