#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal::detail {

/// Matches the grids of two groups, the first of which runs earlier. The result divides both as one group, so that each vertex
/// reads only blocks that the same vertex wrote. Axes match if they divide the same axis of shared memory.
class Alignment {
 public:
  constexpr Alignment(const BodyDraft& draft, const Group& first, const Group& second) : first_(first), second_(second) {
    for (int axis = 0; axis < first.grid.size(); ++axis) {
      cuttable_.push_back(is_cut_always(first.grid[axis].kind));
      second_of_.push_back(-1);
    }
    for (int axis = 0; axis < second.grid.size(); ++axis) first_of_.push_back(-1);
    const Member* const members = first.members.data();
    const int member_count = static_cast<int>(first.members.size());
    const Value* values_of[max_stages]{};  // by member of the first group: pairs are many, and a call for each would be dear
    int inputs_of[max_stages]{}, count_of[max_stages]{};
    for (int m = 0; m < member_count; ++m) {
      const Operation& other = draft.operation(members[m]);
      values_of[m] = other.operands.data();
      inputs_of[m] = other.input_count;
      count_of[m] = static_cast<int>(other.operands.size());
    }
    for_each_operand(draft, second, [&](const Operation& operation, int o, const Member& member) {
      const Value& b = operation.operands[o];
      const StorageId storage = b.storage;
      const bool is_output = operation.is_output(o);
      for (int m = 0; m < member_count; ++m) {
        const Value* const values = values_of[m];
        for (int p = is_output ? 0 : inputs_of[m], count = count_of[m]; p < count; ++p)
          if (values[p].storage == storage)
            align(values[p], grid_axes_of(draft.operation(members[m]), members[m], p), b, grid_axes_of(operation, member, o));
      }
    });
    for (int axis = 0; axis < cuttable_.size(); ++axis) {
      const int other = second_of_[axis];
      if (other < 0 || !is_cut_always(second.grid[other].kind) || (whole_of_second_ >> other & 1) != 0) cuttable_[axis] = false;
    }
  }
  /// Returns whether the merged group can be divided along every axis along which the first group alone is divided.
  constexpr bool keeps_cuts_of_first(const Partition& cut) const {
    for (int axis = 0; axis < cuttable_.size(); ++axis)
      if (cut.blocks[axis] < first_.grid[axis].extent && !cuttable_[axis]) return false;
    return true;
  }
  /// Returns whether the merged group can be divided along every axis along which the second group alone is divided.
  constexpr bool keeps_cuts_of_second(const Partition& cut) const {
    for (int axis = 0; axis < first_of_.size(); ++axis)
      if (cut.blocks[axis] < second_.grid[axis].extent && (first_of_[axis] < 0 || !cuttable_[first_of_[axis]])) return false;
    return true;
  }
  /// Returns whether the merged group has the same number of partials of each sum as each group alone.
  constexpr bool keeps_parts(const Partition& first_cut, const Partition& second_cut, const Partition& merged_cut) const {
    for (int axis = 0; axis < first_of_.size(); ++axis)
      if (second_.grid[axis].kind == WorkAxisKind::summed &&
          (first_of_[axis] < 0 || !cuttable_[first_of_[axis]] || merged_cut.blocks[first_of_[axis]] != second_cut.blocks[axis]))
        return false;
    for (int axis = 0; axis < cuttable_.size(); ++axis)
      if (first_.grid[axis].kind == WorkAxisKind::summed &&
          (!cuttable_[axis] || merged_cut.blocks[axis] != first_cut.blocks[axis]))
        return false;
    return true;
  }
  /// Returns the grid of both groups as one, that of the first. If one of the groups cannot be divided along an axis, the axis
  /// becomes whole.
  constexpr FixedVector<WorkAxis, max_work_axes> merged_grid() const {
    FixedVector<WorkAxis, max_work_axes> grid = first_.grid;
    for (int axis = 0; axis < grid.size(); ++axis) {
      WorkAxis& common = grid[axis];
      if (!cuttable_[axis]) {
        common.kind = WorkAxisKind::whole;
        continue;
      }
      const WorkAxis& other = second_.grid[second_of_[axis]];
      common.grain = (std::max)(common.grain, other.grain);
      common.vectorised = common.vectorised || other.vectorised;
      if (common.block == 0) common.block = other.block;
      if (other.kind == WorkAxisKind::summed) common.kind = WorkAxisKind::summed;
    }
    return grid;
  }
  /// Adds the second group to `group`, which is the first or a copy of it. `grid` is that of merged_grid().
  constexpr void merge_into(Group& group, const FixedVector<WorkAxis, max_work_axes>& grid) const {
    group.grid = grid;
    group.cost += second_.cost;
    make_room(group.members, second_.members.size());
    for (const Member& member : second_.members) {
      group.members.push_back(member);
      auto& axes = group.members.back().grid_axis;
      for (int axis = 0; axis < axes.size(); ++axis)
        if (axes[axis] >= 0) axes[axis] = first_of_[axes[axis]];
    }
  }

 private:
  /// Matches the axes of two views of a storage by extent and stride. If an axis has no match, nothing is divided.
  constexpr void align(const Value& a, const GridAxes& axes_of_a, const Value& b, const GridAxes& axes_of_b) {
    int unmatched = 0;
    for (int axis = 0; axis < a.spec.shape.rank; ++axis) unmatched += a.spec.shape[axis] != 1;
    bool fits = a.spec.dtype == b.spec.dtype && a.layout.offset == b.layout.offset;
    for (int axis = 0; fits && axis < b.spec.shape.rank; ++axis) {
      if (b.spec.shape[axis] == 1) continue;
      int match = 0;
      while (match < a.spec.shape.rank &&
             (a.spec.shape[match] != b.spec.shape[axis] ||
              a.layout.strides[static_cast<std::size_t>(match)] != b.layout.strides[static_cast<std::size_t>(axis)]))
        ++match;
      fits = match < a.spec.shape.rank;
      --unmatched;
      if (fits) pair(axes_of_a[match], axes_of_b[axis]);
    }
    if (fits && unmatched == 0) return;
    for (int axis = 0; axis < cuttable_.size(); ++axis) cuttable_[axis] = false;  // one vertex writes all before it reads any
  }
  /// Records that an axis of memory is divided along these axes of the two grids; -1: not divided.
  constexpr void pair(int first, int second) {
    if (first >= 0 && second >= 0 && second_of_[first] < 0 && first_of_[second] < 0) {
      second_of_[first] = static_cast<std::int8_t>(second);
      first_of_[second] = static_cast<std::int8_t>(first);
    } else if (first >= 0 && (second < 0 || second_of_[first] != second)) {
      cuttable_[first] = false;
    }
    if (second >= 0 && first_of_[second] != first && first_of_[second] >= 0) cuttable_[first_of_[second]] = false;
    if (second >= 0 && first < 0) whole_of_second_ |= 1u << second;
  }

  const Group& first_;
  const Group& second_;
  FixedVector<std::int8_t, max_work_axes> first_of_{};   // by axis of the second grid: its match in the first; -1: none
  FixedVector<std::int8_t, max_work_axes> second_of_{};  // by axis of the first grid: its match in the second; -1: none
  FixedVector<bool, max_work_axes> cuttable_{};          // by axis of the first grid: the merged group may be cut along it
  unsigned whole_of_second_ = 0;  // bit a: a vertex needs all of axis a of the second grid
};

}  // namespace tilewright::internal::detail
