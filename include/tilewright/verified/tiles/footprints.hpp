#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/verified/memory/segments.hpp"

namespace tilewright::internal::proof::detail {

/// Consecutive bytes.
struct Run {
  std::int64_t begin = 0, end = 0;
  std::int64_t vertex = 0;  ///< number of the vertex with these bytes
};

/// Appends the bytes of an access as runs.
constexpr void add_runs(const Access& access, std::int64_t vertex, List<Run>& runs) {
  if (access.elements() == 0) return;
  std::pair<std::int64_t, std::int64_t> axes[max_rank]{};  // stride and extent, the smallest stride first
  int count = 0;
  std::int64_t begin = access.offset + access.reach().below;
  for (int axis = 0; axis < access.rank; ++axis) {
    if (access.extents[axis] == 1 || access.strides[axis] == 0) continue;
    int at = count++;
    const std::pair<std::int64_t, std::int64_t> added{access.strides[axis] < 0 ? -access.strides[axis] : access.strides[axis],
                                                      access.extents[axis]};
    for (; at > 0 && axes[at - 1].first > added.first; --at) axes[at] = axes[at - 1];
    axes[at] = added;
  }
  std::int64_t bytes = access.element_bytes;
  int outer = 0;
  for (; outer < count && axes[outer].first <= bytes; ++outer) bytes += axes[outer].first * (axes[outer].second - 1);
  std::int64_t index[max_rank]{};
  for (;;) {
    runs.push_back({begin, begin + bytes, vertex});
    int axis = outer;
    for (; axis < count; ++axis) {
      begin += axes[axis].first;
      if (++index[axis] < axes[axis].second) break;
      begin -= axes[axis].first * axes[axis].second;
      index[axis] = 0;
    }
    if (axis == count) return;
  }
}
constexpr void sort_runs(List<Run>& runs) {
  sort_items(runs, [](const Run& a, const Run& b) { return a.begin < b.begin; });
}
/// Returns whether runs of both lists share a byte. Both are sorted.
constexpr bool overlap(const List<Run>& a, const List<Run>& b) {
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i].begin < b[k].end && b[k].begin < a[i].end) return true;
    a[i].end < b[k].end ? ++i : ++k;
  }
  return false;
}
/// Returns whether runs of different vertices share a byte.
constexpr bool share_bytes(List<Run>& a, List<Run>& b) {
  sort_runs(a), sort_runs(b);
  for (std::size_t i = 0, first = 0; i < a.size(); ++i) {
    while (first < b.size() && b[first].end <= a[i].begin) ++first;
    for (std::size_t k = first; k < b.size() && b[k].begin < a[i].end; ++k)
      if (b[k].end > a[i].begin && b[k].vertex != a[i].vertex) return true;
  }
  return false;
}
/// Returns whether two accesses to one memory share a byte.
constexpr bool overlap(const Access& a, const Access& b) {
  const auto [below_a, above_a] = a.reach();
  const auto [below_b, above_b] = b.reach();
  if (a.elements() == 0 || b.elements() == 0) return false;
  if (a.offset + below_a >= b.offset + above_b || b.offset + below_b >= a.offset + above_a) return false;
  if (a.offset == b.offset) return true;
  if (are_apart(lattice_of(a), lattice_of(b))) return false;
  List<Run> runs_a, runs_b;
  add_runs(a, 0, runs_a), add_runs(b, 0, runs_b);
  sort_runs(runs_a), sort_runs(runs_b);
  return overlap(runs_a, runs_b);
}

/// Returns the access to an operand in memory of which a step's vertices write some parts, one after the other, or one part: its
/// view.
constexpr Access access_of(const StageOperand& operand, std::int64_t offset, std::int64_t parts) {
  if (parts == 1) return access_of(offset, {operand.view.shape, operand.view.dtype}, operand.view.strides);
  return access_of(offset, {{parts * operand.view.shape.nelms()}, operand.view.dtype}, dense_strides({1}));
}

/// How a compute set divides its operands among its vertices.
class Division {
 public:
  constexpr Division(const auto& plan, const ComputeSet& set) : set_(set), strides_(plan.strides.data() + set.first_stride) {}

  constexpr std::int64_t count(int axis) const { return (set_.extents[axis] + set_.blocks[axis] - 1) / set_.blocks[axis]; }
  constexpr std::int64_t vertices() const {
    std::int64_t result = 1;
    for (int axis = 0; axis < set_.blocks.size(); ++axis) result *= count(axis);
    return result;
  }
  /// Returns the bytes of a location from one block to the next along an axis of the grid.
  constexpr std::int64_t stride(int location, int axis) const { return strides_[location * set_.blocks.size() + axis]; }
  /// Returns the axis of the grid along which several vertices divide an operand's axis; -1: each has all of it.
  constexpr int cut(const StageOperand& operand, int axis) const {
    const int grid_axis = operand.grid_axis[axis];
    return grid_axis >= 0 && count(grid_axis) > 1 ? grid_axis : -1;
  }
  constexpr bool follows(const StageOperand& operand, int grid_axis) const {
    for (int axis = 0; axis < operand.view.shape.rank; ++axis)
      if (operand.grid_axis[axis] == grid_axis) return true;
    return false;
  }
  /// Returns the bytes from block to block that follow from the view and the blocks.
  constexpr std::int64_t expected_stride(const StageOperand& operand, int grid_axis, const auto& strides) const {
    std::int64_t result = 0;
    for (int axis = 0; axis < operand.view.shape.rank; ++axis)
      if (operand.grid_axis[axis] == grid_axis)
        result += set_.blocks[grid_axis] * strides[static_cast<std::size_t>(axis)] * size_of(operand.view.dtype);
    return result;
  }
  /// Returns the number of parts of an operand: 1, or what vertices write one after the other if they cut a sum.
  constexpr std::int64_t parts(const StageOperand& operand) const {
    std::int64_t result = 1;
    if (operand.source != Source::memory) return 1;
    for (int axis = 0; axis < set_.blocks.size(); ++axis)
      if (!follows(operand, axis) && stride(operand.index, axis) != 0) result *= count(axis);
    return result;
  }
  /// Adds the bytes of an operand in memory that each vertex accesses.
  constexpr void add_runs_of_vertices(const StageOperand& operand, std::int64_t offset, List<Run>& runs) const {
    std::int64_t index[max_work_axes]{};
    for (std::int64_t vertex = 0, end = vertices(); vertex < end; ++vertex) {
      Access access{offset, static_cast<int>(size_of(operand.view.dtype)), operand.view.shape.rank, {}, {}};
      for (int axis = 0; axis < set_.blocks.size(); ++axis) access.offset += index[axis] * stride(operand.index, axis);
      for (int axis = 0; axis < access.rank; ++axis) {
        access.extents[axis] = operand.view.shape[axis];
        access.strides[axis] = operand.view.stride(axis) * access.element_bytes;
        if (const int of_grid = operand.grid_axis[axis]; of_grid >= 0)
          access.extents[axis] = (std::min)(set_.blocks[of_grid], set_.extents[of_grid] - index[of_grid] * set_.blocks[of_grid]);
      }
      add_runs(access, vertex, runs);
      for (int axis = set_.blocks.size(); axis-- > 0;) {
        if (++index[axis] < count(axis)) break;
        index[axis] = 0;
      }
    }
  }

 private:
  const ComputeSet& set_;
  const std::int64_t* strides_;
};

}  // namespace tilewright::internal::proof::detail
