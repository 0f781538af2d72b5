#pragma once
#include <algorithm>

#include "tilewright/graph/op_info/work.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// Division of a grid into vertices.
struct Partition {
  FixedVector<std::int64_t, max_work_axes> blocks{};  ///< by axis: extent of a vertex; the last one may have less
  std::int64_t vertices = 1;
  int pieces = 1;  ///< of each vertex, which threads share
  std::int64_t partials = 1;  ///< of each result of a reduction: the number of blocks along all its divided axes
};

/// Returns the number of blocks along an axis.
constexpr std::int64_t block_count(std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; }

namespace detail {
constexpr std::int64_t grain_of(const WorkAxis& axis, DType dtype, const Target& target) {
  return axis.vectorised ? target.vector_width(dtype) : axis.grain;
}
/// Returns the smallest block, in whole grains, that divides the axis into at most `parts` blocks.
constexpr std::int64_t block_for(const WorkAxis& axis, std::int64_t grain, std::int64_t parts) {
  const std::int64_t grains = block_count(axis.extent, grain);
  const std::int64_t used = (std::min)(std::max<std::int64_t>(parts, 1), grains);
  return (std::min)(axis.extent, block_count(grains, used) * grain);
}
}  // namespace detail

/// Divides a grid into at most one vertex for each tile. If `WorkAxis::block` is set, it gives the blocks. Otherwise parallel
/// and summed axes are divided first. If tiles are left and the target divides sums, reduction axes are divided afterwards.
/// Both times, the order is from the first axis to the last.
constexpr Partition partition(const FixedVector<WorkAxis, max_work_axes>& axes, DType dtype, const Target& target) {
  Partition result;
  for (const WorkAxis& axis : axes) result.blocks.push_back(axis.extent);
  const auto cut = [&](int i, std::int64_t grain) {
    result.blocks[i] = detail::block_for(axes[i], grain, target.tiles / result.vertices);
    const std::int64_t count = block_count(axes[i].extent, result.blocks[i]);
    result.vertices *= count;
    if (gives_partials(axes[i].kind)) result.partials *= count;
  };
  bool chosen = false;
  for (int i = 0; i < axes.size(); ++i) {
    if (axes[i].block == 0 || axes[i].kind == WorkAxisKind::whole) continue;
    chosen = true;
    result.blocks[i] = axes[i].block;
    const std::int64_t count = block_count(axes[i].extent, axes[i].block);
    result.vertices *= count;
    if (gives_partials(axes[i].kind)) result.partials *= count;
  }
  if (chosen) return result;
  for (int i = 0; i < axes.size(); ++i)
    if (is_cut_always(axes[i].kind)) cut(i, detail::grain_of(axes[i], dtype, target));
  if (target.shortest_reduction > 0)
    for (int i = 0; i < axes.size(); ++i)
      if (axes[i].kind == WorkAxisKind::reduction && axes[i].extent >= 2 * target.shortest_reduction)
        cut(i, (std::max)(axes[i].grain, target.shortest_reduction));
  return result;
}

/// Divides vertices into smaller ones, along parallel axes from the first to the last, until `bytes_of(blocks)` is at most
/// `limit` or no axis can be divided.
constexpr void cut_blocks(Partition& cut, const FixedVector<WorkAxis, max_work_axes>& axes, DType dtype, std::int64_t limit,
                          const Target& target, auto bytes_of) {
  for (int i = 0; i < axes.size(); ++i) {
    if (axes[i].kind != WorkAxisKind::parallel) continue;
    const std::int64_t grain = detail::grain_of(axes[i], dtype, target), before = block_count(axes[i].extent, cut.blocks[i]);
    while (cut.blocks[i] > grain && bytes_of(cut.blocks) > limit)
      cut.blocks[i] = block_count(block_count(cut.blocks[i], grain), 2) * grain;
    cut.vertices = cut.vertices / before * block_count(axes[i].extent, cut.blocks[i]);
  }
}

}  // namespace tilewright::internal
