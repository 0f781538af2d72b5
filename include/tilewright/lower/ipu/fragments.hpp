#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/ipu/operand_cut.hpp"

namespace tilewright::internal {

/// Order of the elements of a slice that a vertex gets from other tiles.
enum class SliceOrder : std::uint8_t {
  rows,  ///< row-major
  blocks  ///< block of the layout by block, each in its row-major order, as products read their operands
};

namespace detail {

/// Returns the number of elements that are consecutive in the storage's row-major order and lie in one block.
constexpr std::int64_t run_of(const LayoutAxes& axes) {
  std::int64_t run = 1;
  for (int axis = axes.size(); axis-- > 0;) {
    if (axes[axis].stride != run) break;
    run *= axes[axis].block;
    if (axes[axis].block != axes[axis].extent) break;
  }
  return run;
}

/// Returns the largest number of pieces into which the blocks of a layout divide a block of a use.
constexpr std::int64_t pieces_of(std::int64_t use, std::int64_t home, std::int64_t extent) {
  if (home >= extent) return 1;
  const bool aligned = use % home == 0 || home % use == 0 || use == extent;
  return block_count(use, home) + (aligned ? 0 : 1);
}

/// Splits an axis of one list into two axes if an axis of the other list begins inside it, for example an axis of heads inside an
/// axis of columns. It splits only if a block lies within one run of the inner axis or consists of whole runs. The new outer axis
/// has no numbering.
constexpr LayoutAxes cut_at(const LayoutAxes& axes, const LayoutAxes& others) {
  LayoutAxes result = axes;
  for (const LayoutAxis& other : others)
    for (int i = 0; i < result.size(); ++i) {
      LayoutAxis& axis = result[i];
      if (other.stride <= axis.stride || other.stride >= axis.stride * axis.extent || other.stride % axis.stride != 0) continue;
      const std::int64_t inner = other.stride / axis.stride;
      if (axis.extent % inner != 0 || (inner % axis.block != 0 && axis.block % inner != 0)) continue;
      if (result.size() == max_work_axes) return result;
      const LayoutAxis outer{other.stride, axis.extent / inner, std::max<std::int64_t>(1, axis.block / inner), {}};
      axis.extent = inner;
      axis.block = std::min(axis.block, inner);
      insert_by_stride(result, outer);
      break;
    }
  return result;
}
constexpr bool are_same_axes(const LayoutAxes& a, const LayoutAxes& b) {
  bool same = a.size() == b.size();
  for (int i = 0; same && i < a.size(); ++i) same = a[i].stride == b[i].stride && a[i].extent == b[i].extent;
  return same;
}

}  // namespace detail

/// Returns the largest number of pieces in which a vertex's slice of a storage comes from tiles or goes to them. Elements of one
/// piece are consecutive both in the block of the layout and in the slice.
constexpr std::int64_t fragments_of(const OperandCut& cut, const TileLayout& layout, SliceOrder order = SliceOrder::rows) {
  const std::int64_t elements = cut.slice_elements();
  const bool same = detail::are_same_axes(cut.axes, layout.axes);
  const LayoutAxes slice = same ? cut.axes : detail::cut_at(cut.axes, layout.axes);
  const LayoutAxes home = same ? layout.axes : detail::cut_at(layout.axes, slice);
  if (!same && !detail::are_same_axes(slice, home)) {
    const std::int64_t run = std::max<std::int64_t>(1, detail::run_of(cut.axes)), block = detail::run_of(layout.axes);
    return std::min(elements, block_count(elements, run) * detail::pieces_of(run, block, elements));
  }
  std::int64_t fragments = 1;
  bool contiguous = true;  // what is between neighbours along the axis is whole in the block and in the slice
  for (int i = slice.size(); i-- > 0;) {
    const std::int64_t use = slice[i].block, block = home[i].block, overlap = std::min(use, block);
    fragments *= detail::pieces_of(use, block, slice[i].extent) * (contiguous ? 1 : overlap);
    contiguous = contiguous && block == overlap && (order == SliceOrder::blocks || use == overlap);
  }
  return std::min(elements, fragments);
}

}  // namespace tilewright::internal
