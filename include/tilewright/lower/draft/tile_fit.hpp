#pragma once
#include <utility>

#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal::detail {

/// Returns the bytes of the operands of a group's largest vertex. Counts each view of a storage once, and intermediate results
/// too.
constexpr std::int64_t vertex_bytes(const BodyDraft& draft, const Group& group, const Partition& cut) {
  const Value* known[max_locations]{};
  GridAxes known_axes[max_locations]{};
  int count = 0;
  std::int64_t bytes = 0;
  for (const Member& member : group.members) {
    const Operation& operation = draft.operation(member);
    for (int o = 0; o < static_cast<int>(operation.operands.size()); ++o) {
      const Value& value = operation.operands[o];
      if (draft.storage(value.storage).location.base == Base::position) continue;
      const GridAxes axes = grid_axes_of(operation, member, o);
      int i = 0;
      while (i < count && (known[i]->storage != value.storage || known[i]->layout != value.layout ||
                           known[i]->spec != value.spec || known_axes[i] != axes))
        ++i;
      if (i < count) continue;
      known[count] = &value;
      known_axes[count++] = axes;
      bytes += block_bytes(value, axes, cut.blocks);
    }
  }
  return bytes;
}

/// Divisor of a tile's memory for the operands of a vertex, on a target whose memory is checked: one half. The other half is for
/// the tile's share of all tensors, and for code. No benchmark has such large vertices: `./dev bench ipu` checks no memory, and
/// the CNN, planned for ipu_model by `./dev plans`, has vertices of an eighth.
inline constexpr std::int64_t vertex_limit_divisor = 2;
constexpr std::int64_t vertex_limit(const Target& target) { return target.bytes_per_tile / vertex_limit_divisor; }

/// Returns the partition if one axis is divided before all others, and in single elements if `cuts_vectors`.
constexpr Partition partition_from(int axis, bool cuts_vectors, FixedVector<WorkAxis, max_work_axes> axes, DType dtype,
                                   const Target& target) {
  if (cuts_vectors && axes[axis].vectorised) axes[axis].vectorised = false, axes[axis].grain = 1;
  for (int i = axis; i > 0; --i) std::swap(axes[i], axes[i - 1]);
  Partition result = partition(axes, dtype, target);
  for (int i = 0; i < axis; ++i) std::swap(result.blocks[i], result.blocks[i + 1]);
  return result;
}

/// Division of a group, and the bytes of its largest vertex.
struct TileFit {
  Partition partition{};
  std::int64_t bytes = 0;
};
/// A rule of a machine that checks memory: how it divides a group so that each vertex has room.
using FitRule = TileFit (*)(const BodyDraft&, const Group&, const Target&);

/// Divides a group into at most one vertex for each tile, as `partition` does. If an operand that vertices need whole along an
/// axis, such as a table whose elements an op gathers, makes them too large for a tile, one of the parallel axes is divided
/// before all others: the one that gives the smallest vertices. If that is not enough, vectors are divided, too. Only for targets
/// that check memory.
constexpr TileFit fit_tiles(const BodyDraft& draft, const Group& group, const Target& target) {
  const Operation& first = draft.operation(group.members[0]);
  const DType dtype = first.operands[first.input_count].spec.dtype;
  TileFit best{partition(group.grid, dtype, target)};
  best.bytes = vertex_bytes(draft, group, best.partition);
  for (const WorkAxis& axis : group.grid)
    if (gives_partials(axis.kind)) return best;  // the number of partials is fixed
  for (const bool cuts_vectors : {false, true})
    for (int axis = 0; axis < group.grid.size() && best.bytes > vertex_limit(target); ++axis) {
      if (group.grid[axis].kind != WorkAxisKind::parallel) continue;
      TileFit other{partition_from(axis, cuts_vectors, group.grid, dtype, target)};
      other.bytes = vertex_bytes(draft, group, other.partition);
      if (other.bytes < best.bytes) best = other;
    }
  return best;
}

}  // namespace tilewright::internal::detail
