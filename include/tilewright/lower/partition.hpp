#pragma once
#include <algorithm>

#include "tilewright/graph/work.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// How a compute set is cut: the extent of a vertex along each axis of the work, and the number of vertices and of
/// partial results.
struct Partition {
  FixedVector<std::int64_t, max_work_axes> blocks{};
  std::int64_t vertices = 1;
  std::int64_t partials = 1;
};

namespace detail {
/// The smallest block, in whole grains, that cuts the axis into at most `parts` blocks.
constexpr std::int64_t block_for(const WorkAxis& axis, std::int64_t grain, std::int64_t parts) {
  const std::int64_t grains = (axis.extent + grain - 1) / grain;
  const std::int64_t used = std::min(std::max<std::int64_t>(parts, 1), grains);
  return std::min(axis.extent, (grains + used - 1) / used * grain);
}
}  // namespace detail

/// Cuts work into at most one vertex for each tile: parallel axes from the first to the last, then, where tiles are left and
/// the target says so, reduction axes.
constexpr Partition partition(const Work& work, DType dtype, const Target& target) {
  Partition result;
  for (const WorkAxis& axis : work.axes) result.blocks.push_back(axis.extent);
  const auto cut = [&](int i, std::int64_t grain) {
    const WorkAxis& axis = work.axes[i];
    result.blocks[i] = detail::block_for(axis, grain, target.tiles / result.vertices);
    const std::int64_t count = (axis.extent + result.blocks[i] - 1) / result.blocks[i];
    result.vertices *= count;
    if (axis.kind == WorkAxisKind::reduction) result.partials *= count;
  };
  for (int i = 0; i < work.axes.size(); ++i)
    if (work.axes[i].kind == WorkAxisKind::parallel)
      cut(i, work.axes[i].vectorised ? target.vector_width(dtype) : work.axes[i].grain);
  if (target.shortest_reduction > 0)
    for (int i = 0; i < work.axes.size(); ++i)
      if (work.axes[i].kind == WorkAxisKind::reduction && work.axes[i].extent >= 2 * target.shortest_reduction)
        cut(i, std::max(work.axes[i].grain, target.shortest_reduction));
  return result;
}

/// Cuts vertices into smaller ones, along parallel axes from the first to the last, until a block of `block_bytes`, which has
/// one element for each point of the parallel axes, has at most `limit` bytes or no axis can be cut.
constexpr void cut_blocks(Partition& cut, const Work& work, DType dtype, std::int64_t limit, const Target& target) {
  std::int64_t bytes = size_of(dtype);
  for (int i = 0; i < work.axes.size(); ++i)
    if (work.axes[i].kind == WorkAxisKind::parallel) bytes *= cut.blocks[i];
  for (int i = 0; i < work.axes.size() && bytes > limit; ++i) {
    const WorkAxis& axis = work.axes[i];
    if (axis.kind != WorkAxisKind::parallel) continue;
    const std::int64_t grain = axis.vectorised ? target.vector_width(dtype) : axis.grain, before = cut.blocks[i];
    const std::int64_t count = (axis.extent + before - 1) / before;
    const std::int64_t block = std::min(before, std::max(grain, before * limit / bytes / grain * grain));
    bytes = bytes / before * block;
    cut.blocks[i] = block;
    cut.vertices = cut.vertices / count * ((axis.extent + block - 1) / block);
  }
}

}  // namespace tilewright
