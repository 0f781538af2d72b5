#pragma once
// takes: groups and Storage::internal
// gives: cuts: by group its vertices and how its values are computed; Storage::internal is final
// keeps: groups and operations
#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/draft/tile_fit.hpp"
#include "tilewright/lower/memory/evaluation.hpp"
#include "tilewright/lower/memory/shared_vertices.hpp"
#include "tilewright/lower/products/cut_product.hpp"

namespace tilewright::internal {

namespace detail {

/// Divides the groups of a draft into vertices.
class Cutter {
 public:
  constexpr Cutter(BodyDraft& draft, const Target& target, FitRule fit)
      : draft_(draft), fit_(fit), computing_(without_io_tiles(target)), io_(io_tiles_alone(target)) {}

  constexpr Cut cut(const Group& group) {
    const Operation& first = draft_.operation(group.members[0]);
    Cut result;
    if (first.is_call()) return result;
    const Target& target = first.placement.tile_set == TileSet::io && io_.tiles > 0 ? io_ : computing_;
    const DType dtype = first.operands[first.input_count].spec.dtype;
    result.evaluations = evaluate(draft_, group);
    result.partition = target.checks_memory() ? fit_(draft_, group, target).partition : cut_product(draft_, group, dtype, target);
    if (group.members.size() == 1) {
      share_vertices(draft_, group, result, dtype, target);
      return result;
    }
    const List<PassedOn> passed_on = find_passed_on(group, result.evaluations);
    const auto bytes_passed_on = [&](const auto& blocks) {
      std::int64_t bytes = 0;
      for (const PassedOn& each : passed_on) bytes += block_bytes(*each.value, each.grid_axis, blocks);
      return bytes;
    };
    Partition smaller = result.partition;
    cut_blocks(smaller, group.grid, dtype, target.block_bytes, target, bytes_passed_on);
    const bool fits = target.first_cache_bytes == 0 || bytes_passed_on(smaller.blocks) < target.first_cache_bytes;
    if (fits) result.partition = smaller;
    else cut_blocks(result.partition, group.grid, dtype, target.second_block_bytes, target, bytes_passed_on);
    share_vertices(draft_, group, result, dtype, target);
    // A storage that goes to the frame was not in registers but where several members write it: then the last of them may have
    // been. No value gets into registers or scratch by that, so that the limit still holds.
    if (limit_scratch(group, result)) result.evaluations = evaluate(draft_, group);
    return result;
  }

 private:
  /// A value that a kernel of a group accesses and another kernel of the group uses: its block should still be in a cache for the
  /// second kernel.
  struct PassedOn {
    const Value* value = nullptr;
    GridAxes grid_axis{};
    int kernel = -1;  ///< member whose kernel uses it first
    bool counts = false;  ///< whether a second kernel uses it, and it is divided
  };
  constexpr List<PassedOn> find_passed_on(const Group& group, const Evaluations& evaluations) const {
    List<PassedOn> all;
    all.reserve(max_locations);
    StorageId storages[max_locations]{};  // of all
    int count = 0;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      const Value* const operands = operation.operands.data();
      const int kernel = evaluations.kernels[m];
      for (int o = 0, end = static_cast<int>(operation.operands.size()); o < end; ++o) {
        int known = 0;
        while (known < count && storages[known] != operands[o].storage) ++known;
        if (known == count) {
          all.push_back({operands + o, grid_axes_of(operation, group.members[m], o), kernel});
          storages[count++] = operands[o].storage;
        } else if (PassedOn& each = all[known]; each.kernel != kernel && !each.counts) {
          each.counts = is_cut(each.grid_axis, group);
        }
      }
    }
    erase_if(all, [](const PassedOn& each) { return !each.counts; });
    return all;
  }
  static constexpr bool is_cut(const GridAxes& axes, const Group& group) {
    for (int axis = 0; axis < max_rank; ++axis)
      if (const int cut = axes[axis]; cut >= 0 && group.grid[cut].kind == WorkAxisKind::parallel) return true;
    return false;
  }
  /// Moves internal storages without room in a vertex's scratch to the frame. Returns whether there are any.
  constexpr bool limit_scratch(const Group& group, const Cut& cut) {
    std::int64_t bytes = 0;
    bool is_limited = false;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      if (cut.evaluations.in_registers[m]) continue;
      const Operation& operation = draft_.operation(group.members[m]);
      for (int o = operation.first_new_result(); o < static_cast<int>(operation.operands.size()); ++o) {
        const Value& value = operation.operands[o];
        Storage& storage = draft_.storage(value.storage);
        if (!storage.internal) continue;
        bytes += align(scratch_bytes(value, grid_axes_of(operation, group.members[m], o), cut.partition.blocks,
                                     (cut.evaluations.by_image >> m & 1) != 0));
        if (bytes <= max_scratch_bytes) continue;
        storage.internal = false;
        is_limited = true;
      }
    }
    return is_limited;
  }

  BodyDraft& draft_;
  FitRule fit_;
  Target computing_, io_;
};

}  // namespace detail

/// Divides each group of a draft into vertices: first into at most one for each tile; by the machine's rule, if the target checks
/// memory. If kernels of the group would pass on more than the target's `block_bytes`, the vertices become smaller. On a host
/// whose first-level cache is too small for any vertex of the group, `second_block_bytes` is the limit. Also decides how values
/// are computed. Internal storages without room in a vertex's scratch become storages of the frame: from here on `internal` is
/// final.
constexpr void cut_groups(BodyDraft& draft, const Target& target, detail::FitRule fit = detail::fit_tiles) {
  detail::Cutter cutter(draft, target, fit);
  draft.cuts.reserve(draft.groups.size());
  for (const Group& group : draft.groups) draft.cuts.push_back(cutter.cut(group));
}

}  // namespace tilewright::internal
