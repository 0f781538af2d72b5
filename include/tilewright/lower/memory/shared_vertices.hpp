#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/memory/vertex_work.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// Largest number of pieces of a vertex, and of vertices for each tile, that threads share: 8 tiles have work for 64 threads.
inline constexpr std::int64_t most_pieces = 8;
/// Smallest number of multiply-adds in a piece: 3 us of a core that computes 85e9 per second, as one core of an Intel Xeon with
/// AVX-512 does. Taking a piece costs one atomic exchange, and the addresses of a step's operands.
inline constexpr std::int64_t least_work_of_piece = 1 << 18;

namespace detail {

/// Returns the pieces of a vertex that is one product with formulas in its epilogue. The number is limited by the work, and by
/// the numbers of matrices, vectors of rows or pairs of vectors of columns.
constexpr int pieces_of_product(const BodyDraft& draft, const Group& group, const Cut& cut, std::int64_t worth,
                                const Target& target) {
  const Operation& product = draft.operation(group.members[0]);
  if (!host_rules_of(*product.op).takes_pieces) return 1;
  int kernels = 0;
  for (const Evaluation kind : cut.evaluations.kinds) kernels += kind == Evaluation::kernel ? 1 : 0;
  if (kernels > 1) return 1;
  const Value& output = product.operands[product.input_count];
  const GridAxes axes = grid_axes_of(product, group.members[0], product.input_count);
  std::int64_t matrices = 1, columns = 1, rows = 1;
  for (int axis = 0, rank = output.spec.shape.rank; axis < rank; ++axis) {
    const std::int64_t extent = axes[axis] < 0 ? output.spec.shape[axis] : cut.partition.blocks[axes[axis]];
    if (axis == rank - 1) columns = extent;
    else if (axis == rank - 2) rows = extent;
    else matrices *= extent;
  }
  const std::int64_t width = target.vector_width(output.spec.dtype);
  const std::int64_t most = (std::max)({matrices, columns / (2 * width), rows / width});
  return static_cast<int>(std::clamp<std::int64_t>((std::min)(most, worth), 1, most_pieces));
}

/// Divides vertices into up to `most`, along parallel axes from the first to the last, each into equal parts.
constexpr void cut_evenly(const Group& group, Partition& cut, std::int64_t most, DType dtype, const Target& target) {
  for (int i = 0; i < group.grid.size(); ++i) {
    const WorkAxis& axis = group.grid[i];
    if (axis.kind != WorkAxisKind::parallel || axis.block != 0) continue;
    const std::int64_t grain = grain_of(axis, dtype, target);
    std::int64_t& block = cut.blocks[i];
    for (const std::int64_t parts : {2, 2, 2, 3, 5}) {
      if (block % (parts * grain) != 0 || cut.vertices * parts > most) continue;
      const std::int64_t before = block_count(axis.extent, block);
      block /= parts;
      cut.vertices = cut.vertices / before * block_count(axis.extent, block);
    }
  }
}

}  // namespace detail

/// Gives work to more threads than a host has tiles, in groups of several vertices with much work. Vertices of products get
/// pieces. Groups without products and convolutions get smaller vertices; smaller blocks of a product would prepare the same
/// operands more often.
constexpr void share_vertices(const BodyDraft& draft, const Group& group, Cut& cut, DType dtype, const Target& target) {
  if (target.first_cache_bytes == 0 || target.checks_memory() || cut.partition.vertices == 1) return;  // tiles that are no cores
  double work = 0;
  bool prepares = false;
  for (const Member& member : group.members) {
    const Operation& operation = draft.operation(member);
    prepares = prepares || operation.op->work_kind == WorkKind::product || operation.op->work_kind == WorkKind::convolution;
    work += work_of_operation(operation);
  }
  const auto worth = static_cast<std::int64_t>(work / static_cast<double>(least_work_of_piece));
  if (prepares) cut.partition.pieces = detail::pieces_of_product(draft, group, cut, worth / cut.partition.vertices, target);
  else detail::cut_evenly(group, cut.partition, (std::min)(target.tiles * most_pieces, worth), dtype, target);
}

}  // namespace tilewright::internal
