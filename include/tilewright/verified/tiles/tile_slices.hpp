#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/tiles/footprints.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// An axis of an operand: how the vertices of a step divide it.
struct SliceAxis {
  std::int64_t stride = 0;  ///< in elements of the storage
  std::int64_t extent = 1;
  std::int64_t block = 1;  ///< extent of a vertex's part
  int grid_axis = -1;  ///< along which vertices divide it; -1: each has all of it
  constexpr bool operator==(const SliceAxis&) const = default;
};
/// The elements of a storage that the vertices of a step access as one operand.
struct TileSlices {
  std::int64_t offset = 0;  ///< of the first element, in elements of the storage
  FixedVector<SliceAxis, max_rank + max_work_axes> axes{};  ///< by stride, the largest first; none of one element

  constexpr void add(const SliceAxis& axis) {
    if (axis.extent == 1 || axis.stride == 0) return;
    axes.push_back(axis);
    for (int i = axes.size() - 1; i > 0 && axes[i].stride > axes[i - 1].stride; --i) std::swap(axes[i], axes[i - 1]);
  }
  /// Returns the number of elements of a vertex with full blocks.
  constexpr std::int64_t elements() const {
    std::int64_t count = 1;
    for (const SliceAxis& axis : axes) count *= axis.block;
    return count;
  }
  constexpr bool operator==(const TileSlices& other) const {
    if (offset != other.offset || axes.size() != other.axes.size()) return false;
    for (int i = 0; i < axes.size(); ++i)
      if (axes[i] != other.axes[i]) return false;
    return true;
  }
};
/// Returns the slices of an operand that begins `bytes` after the start of its storage.
constexpr TileSlices slices_of(const ComputeSet& set, const Division& division, const StageOperand& operand, std::int64_t bytes) {
  const std::int64_t size = size_of(operand.view.dtype);
  TileSlices result{.offset = bytes / size};
  for (int axis = 0; axis < operand.view.shape.rank; ++axis) {
    const std::int64_t extent = operand.view.shape[axis];
    const int g = operand.grid_axis[axis];
    result.add({operand.view.stride(axis), extent, g >= 0 ? (std::min)(set.blocks[g], extent) : extent, g});
  }
  for (int g = 0; g < set.blocks.size(); ++g)  // parts of sums
    if (!division.follows(operand, g)) result.add({division.stride(operand.index, g) / size, division.count(g), 1, g});
  return result;
}

/// Returns the slices with two axes as one where the layout has one: the inner of them is not divided, and its elements are
/// between those of the outer one.
constexpr TileSlices with_axes_of(const TileLayout& layout, const TileSlices& slices) {
  TileSlices result{.offset = slices.offset};
  for (SliceAxis axis : slices.axes) {
    SliceAxis* const outer = result.axes.size() == 0 ? nullptr : &result.axes[result.axes.size() - 1];
    bool is_axis = outer == nullptr || axis.grid_axis >= 0 || outer->stride != axis.stride * axis.extent;
    for (int i = 0; !is_axis && i < layout.axes.size(); ++i) is_axis = layout.axes[i].stride == outer->stride;
    if (is_axis) result.axes.push_back(axis);
    else *outer = {axis.stride, outer->extent * axis.extent, outer->block * axis.extent, outer->grid_axis};
  }
  return result;
}

/// Returns whether two operands at one location are one view, which vertices divide alike.
constexpr bool have_one_view(const StageOperand& a, const StageOperand& b) {
  for (int axis = 0; axis < a.view.shape.rank; ++axis)
    if (a.grid_axis[axis] != b.grid_axis[axis]) return false;
  return a.view == b.view;
}

/// Returns whether each vertex has its slice in a block on its own tile: for all vertices, the sum of the numbers of their blocks
/// along axes of the grid is the sum of the numbers of the storage's blocks that contain their slices, counted from the block of
/// the first element. Slices may have elements at equal steps of an axis. `tiles`: of the set that the storage and the vertices
/// are on.
constexpr bool are_in_place(const TileSlices& slices, const TileLayout& layout, const GridPlaces& grid, const Division& division,
                            std::int64_t tiles) {
  if (layout.places.set != grid.places.set) return false;
  if (layout.places.count == 1 && grid.places.count == 1)  // one block, one vertex
    return layout.places.first_tile % tiles == grid.places.first_tile % tiles;
  struct Begin {
    LayoutAxis home{};
    std::int64_t first = 0;  ///< element along the axis
    std::int64_t step = 1;  ///< from one element of the slices to the next
    constexpr std::int64_t block(std::int64_t element) const { return (first + element * step) / home.block; }
    constexpr std::int64_t place(std::int64_t element) const { return home.numbering.place(block(element)); }
  };
  FixedVector<Begin, max_rank + max_work_axes> begins;  // by axis of the slices
  std::int64_t rest = slices.offset, shift = 0;
  for (const LayoutAxis& home : layout.axes) {
    if (home.stride < 1 || home.block < 1) return false;
    const SliceAxis* const next = begins.size() < slices.axes.size() ? &slices.axes[begins.size()] : nullptr;
    const bool is_axis = next && next->stride >= home.stride && next->stride % home.stride == 0;
    const Begin begin{home, rest / home.stride, is_axis ? next->stride / home.stride : 1};
    rest %= home.stride;
    const std::int64_t last = is_axis ? next->extent - 1 : 0;
    if (begin.first + last * begin.step >= home.extent) return false;
    shift += begin.place(0);
    if (!is_axis) continue;
    if (next->grid_axis < 0 && begin.block(last) != begin.block(0)) return false;
    begins.push_back(begin);
  }
  if (rest != 0 || begins.size() != slices.axes.size() || (shift != 0 && layout.places.count > tiles)) return false;
  if ((layout.places.first_tile + shift) % tiles != grid.places.first_tile % tiles) return false;
  for (int g = 0; g < grid.axes.size(); ++g) {
    const std::int64_t count = division.count(g);
    const AxisNumbering& vertex = grid.axes[g];
    int axis = -1, followers = 0;
    for (int i = 0; i < slices.axes.size(); ++i)
      if (slices.axes[i].grid_axis == g) axis = i, ++followers;
    if (followers == 0) {  // all vertices along the axis have the same slice
      for (std::int64_t c = 1; c < count; ++c)
        if (vertex.place(c) != 0) return false;
      continue;
    }
    if (followers == 1 && begins[axis].first == 0 && slices.axes[axis].block * begins[axis].step == begins[axis].home.block) {
      const AxisNumbering& block = begins[axis].home.numbering;
      if (block.inner == vertex.inner && block.inner_step == vertex.inner_step && block.outer_step == vertex.outer_step) continue;
    }
    for (std::int64_t c = 0; c < count; ++c) {
      std::int64_t place = 0;
      for (int i = 0; i < slices.axes.size(); ++i) {
        const SliceAxis& slice = slices.axes[i];
        if (slice.grid_axis != g) continue;
        const Begin& begin = begins[i];
        const std::int64_t from = c * slice.block, last = (std::min)(from + slice.block, slice.extent) - 1;
        if (begin.block(from) != begin.block(last)) return false;
        place += begin.place(from) - begin.place(0);
      }
      if (place != vertex.place(c)) return false;
    }
  }
  return true;
}

/// Returns the number of elements of slices, of all vertices together, that are not in the block at the vertex's own place.
constexpr std::int64_t elements_elsewhere(const TileSlices& slices, const TileLayout& layout, const GridPlaces& grid,
                                          const Division& division) {
  if (!layout.is_decided() || layout.places.set != grid.places.set || layout.places.first_tile != grid.places.first_tile ||
      slices.offset != 0 || slices.axes.size() != layout.axes.size())
    return division.vertices() * slices.elements();
  using Index = FixedVector<std::int64_t, max_work_axes>;
  const auto for_each = [](const Index& counts, const auto& f) {
    Index index;
    index.count = counts.count;
    for (;;) {
      f(index);
      int axis = counts.size() - 1;
      for (; axis >= 0 && ++index[axis] == counts[axis]; --axis) index[axis] = 0;
      if (axis < 0) return;
    }
  };
  Index blocks, vertices;
  for (int i = 0; i < layout.axes.size(); ++i) {
    if (slices.axes[i].stride != layout.axes[i].stride || slices.axes[i].extent != layout.axes[i].extent)
      return division.vertices() * slices.elements();
    blocks.push_back((layout.axes[i].extent + layout.axes[i].block - 1) / layout.axes[i].block);
  }
  for (int g = 0; g < grid.axes.size(); ++g) vertices.push_back(division.count(g));
  List<Index> block_at(static_cast<std::size_t>(layout.places.count));
  List<bool> has_block(block_at.size(), false);
  for_each(blocks, [&](const Index& block) {
    std::int64_t place = 0;
    for (int i = 0; i < blocks.size(); ++i) place += layout.axes[i].numbering.place(block[i]);
    block_at[static_cast<std::size_t>(place)] = block;
    has_block[static_cast<std::size_t>(place)] = true;
  });
  std::int64_t moved = 0;
  for_each(vertices, [&](const Index& vertex) {
    std::int64_t place = 0, all = 1, common = 1;
    for (int g = 0; g < vertices.size(); ++g) place += grid.axes[g].place(vertex[g]);
    const bool has_common = place >= 0 && place < layout.places.count && has_block[static_cast<std::size_t>(place)];
    for (int i = 0; i < blocks.size(); ++i) {
      const SliceAxis& slice = slices.axes[i];
      const std::int64_t begin = slice.grid_axis < 0 ? 0 : vertex[slice.grid_axis] * slice.block;
      const std::int64_t end = (std::min)(begin + slice.block, slice.extent);
      all *= end - begin;
      if (!has_common) continue;
      const std::int64_t home = block_at[static_cast<std::size_t>(place)][i] * layout.axes[i].block;
      common *= std::max<std::int64_t>(0, (std::min)(end, home + layout.axes[i].block) - (std::max)(begin, home));
    }
    moved += all - (has_common ? common : 0);
  });
  return moved;
}

}  // namespace tilewright::internal::proof::detail
