#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tilewright/lower/ipu/operand_cut.hpp"

namespace tilewright::internal {

/// Order of the elements of a slice that a vertex gets from other tiles.
enum class SliceOrder : std::uint8_t {
  rows,  ///< row-major
  blocks  ///< block of the layout by block, each in its row-major order, as products read their operands
};

namespace detail {

/// Consecutive elements of a storage, in its row-major order.
struct StorageRun {
  std::int64_t elements = 1;
  int outer = -1;  ///< the axis that ends it, because only a block of it is in the run; -1: the first one
};
/// Returns the elements of a block that are consecutive in the storage.
constexpr StorageRun run_of(const LayoutAxes& axes) {
  StorageRun run;
  for (int axis = axes.size(); axis-- > 0;) {
    if (axes[axis].stride != run.elements) break;
    run.elements *= axes[axis].block;
    run.outer = axis;
    if (axes[axis].block != axes[axis].extent) break;
  }
  return run;
}

/// Largest numbers of blocks of a layout, along an axis, of which a slice has elements.
struct TouchedBlocks {
  std::int64_t all = 1;
  std::int64_t cut = 0;  ///< of which it has a part only; in row-major order, also those that are not all of the slice
};
/// Finds them for the slices of `use`, the first of which begins at element `first` of `home`.
constexpr TouchedBlocks touched_blocks(std::int64_t first, const LayoutAxis& use, const LayoutAxis& home, SliceOrder order) {
  if (home.block >= home.extent) return {1, use.block < home.extent ? 1 : 0};
  const std::int64_t slices = block_count(use.extent, use.block);
  const bool are_inside = home.block % use.block == 0 && first % use.block == 0;
  const std::int64_t different = are_inside ? 1 : home.block / std::gcd(use.block, home.block);
  TouchedBlocks most;
  const auto add = [&](std::int64_t slice) {
    const std::int64_t begin = first + slice * use.block, end = first + (std::min)(use.extent, (slice + 1) * use.block);
    const std::int64_t from = begin / home.block, to = (end - 1) / home.block, blocks = to - from + 1;
    const bool cuts_first = begin % home.block != 0, cuts_last = end != (std::min)(home.extent, (to + 1) * home.block);
    std::int64_t cut = cuts_first + cuts_last;
    if (order == SliceOrder::rows && blocks > 1) cut = blocks;
    most.all = (std::max)(most.all, blocks);
    most.cut = (std::max)(most.cut, (std::min)(cut, blocks));
  };
  for (std::int64_t slice = 0; slice < (std::min)(slices, different); ++slice) add(slice);
  if (slices > different) add(slices - 1);
  return most;
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
      axis.block = (std::min)(axis.block, inner);
      insert_by_stride(result, outer);
      break;
    }
  return result;
}

/// Returns the largest number of pieces of slices whose axes are axes of the layout, or parts of them; -1 for other slices.
constexpr std::int64_t fragments_by_axis(const LayoutAxes& slice, const LayoutAxes& home, std::int64_t offset, SliceOrder order) {
  FixedVector<TouchedBlocks, max_work_axes> touched;  // by axis of the layout
  FixedVector<std::int64_t, max_work_axes> extents;  // of the slice
  int next = 0;  // axis of the slice
  for (const LayoutAxis& axis : home) {
    const bool is_axis = next < slice.size() && slice[next].stride == axis.stride;
    const LayoutAxis use = is_axis ? slice[next++] : LayoutAxis{axis.stride, 1, 1, {}};
    const std::int64_t first = offset / axis.stride;
    offset %= axis.stride;
    if (first + use.extent > axis.extent) return -1;
    touched.push_back(touched_blocks(first, use, axis, order));
    extents.push_back(use.block);
  }
  if (next < slice.size() || offset != 0) return -1;
  std::int64_t whole = 1, cut = 0;  // boxes of the inner axes that are one piece, and pieces of others
  for (int axis = touched.size(); axis-- > 0;) {
    cut = whole * touched[axis].cut + cut * extents[axis];
    whole *= touched[axis].all - touched[axis].cut;
  }
  return whole + cut;
}

/// Returns a number that the pieces of slices with other axes than the layout do not exceed: for each run of elements that are
/// consecutive in the storage, the blocks that it can touch. All runs together have no more ends of blocks than lie between the
/// slice's first and its last element, each as often as runs overlap there.
constexpr std::int64_t fragments_by_run(const OperandCut& cut, const TileLayout& layout) {
  const StorageRun run = run_of(cut.axes), block = run_of(layout.axes);
  std::int64_t begins = cut.offset;  // all runs begin at multiples of it
  for (int axis = 0; axis < cut.axes.size() && (run.outer < 0 || axis <= run.outer); ++axis) {
    const LayoutAxis& each = cut.axes[axis];
    if (axis != run.outer) begins = std::gcd(begins, each.stride);
    else if (each.block < each.extent) begins = std::gcd(begins, each.stride * each.block);
  }
  std::int64_t distance = 0, overlapping = 1;  // from the first element to the last; runs that have the same element
  for (int axis = cut.axes.size(); axis-- > 0;) {
    const LayoutAxis& each = cut.axes[axis];
    const std::int64_t step = each.stride < 0 ? -each.stride : each.stride;
    overlapping *= (std::min)(each.block, block_count(distance + 1, step));
    distance += (each.block - 1) * step;
  }
  std::int64_t of_run = 0, of_slice = 0;  // ends of blocks
  const auto add_ends = [&](std::int64_t length) {  // of blocks of a length
    of_run += (length - std::gcd(begins, length) + run.elements - 1) / length;
    of_slice += overlapping * block_count(distance, length);
  };
  if (block.outer >= 0 && layout.axes[block.outer].block < layout.axes[block.outer].extent) {
    const LayoutAxis& axis = layout.axes[block.outer];
    if (axis.extent % axis.block != 0 && block.outer > 0) {  // blocks begin anew where the last one ends
      begins = std::gcd(begins, axis.stride * axis.extent);
      add_ends(axis.stride * axis.extent);
    }
    add_ends(block.elements);
  }
  const std::int64_t runs = block_count(cut.slice_elements(), run.elements);
  return runs + (std::min)(runs * of_run, of_slice);
}

}  // namespace detail

/// Returns the largest number of pieces in which a vertex's slice of a storage comes from tiles or goes to them. Elements of one
/// piece are consecutive both in the block of the layout and in the slice.
constexpr std::int64_t fragments_of(const OperandCut& cut, const TileLayout& layout, SliceOrder order = SliceOrder::rows) {
  const LayoutAxes slice = detail::cut_at(cut.axes, layout.axes), home = detail::cut_at(layout.axes, slice);
  const std::int64_t fragments = detail::fragments_by_axis(slice, home, cut.offset, order);
  return (std::min)(cut.slice_elements(), fragments >= 0 ? fragments : detail::fragments_by_run(cut, layout));
}

}  // namespace tilewright::internal
