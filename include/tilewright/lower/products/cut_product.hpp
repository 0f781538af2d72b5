#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/draft/partition.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns the cost of preparing an element of a or b before the multiplication, in 1/8 cycles on Zen 5. Kernels convert half
/// precision: a before the multiplication, and b while they multiply it with the first rows of a. They also transpose b if its
/// columns are contiguous in memory. [steps of nanoGPT, also in float16, and of llm.c's GPT]
constexpr std::int64_t preparing_cost(const Value& operand, bool is_b) {
  const std::int64_t converting = size_of(operand.spec.dtype) > 2 ? 0 : is_b ? 3 : 4;
  const std::int64_t turning = is_b && operand.layout.strides[static_cast<std::size_t>(operand.spec.shape.rank - 1)] != 1 ? 2 : 0;
  return converting + turning;
}

}  // namespace detail

/// Divides a group that begins with a product for a host's tiles. Each block of columns prepares its rows of a again, and each
/// block of rows prepares its columns of b again. Columns are divided first, into the number of blocks that minimises this cost.
/// A block has at least two vectors, and there are no fewer vertices than a division of the grid's axes in their order gives.
constexpr Partition cut_product(const BodyDraft& draft, const Group& group, DType dtype, const Target& target) {
  Partition best = partition(group.grid, dtype, target);
  const Member& member = group.members[0];
  const Operation& product = draft.operation(member);
  if (product.op->work_kind != WorkKind::product || product.op->modifies >= 0) return best;
  const Value &a = product.operands[0], &b = product.operands[1];
  if (!computes_in_float(b.spec.dtype) || a.spec.shape.rank < 2 || b.spec.shape.rank < 2) return best;
  if (b.spec.nelms() != b.spec.shape[-2] * b.spec.shape[-1]) return best;  // vertices of other matrices prepare those
  const std::int64_t cost_of_a = detail::preparing_cost(a, false), cost_of_b = detail::preparing_cost(b, true);
  if (cost_of_a + cost_of_b == 0) return best;
  const int axis = grid_axes_of(product, member, 1)[b.spec.shape.rank - 1];
  if (axis < 0 || group.grid[axis].kind != WorkAxisKind::parallel || group.grid[axis].block != 0) return best;
  const std::int64_t columns = group.grid[axis].extent, grain = detail::grain_of(group.grid[axis], dtype, target);
  const auto cost = [&](const Partition& cut) {
    const std::int64_t of_columns = block_count(columns, cut.blocks[axis]), of_rows = cut.vertices / of_columns;
    return of_columns * a.spec.nelms() * cost_of_a + of_rows * b.spec.nelms() * cost_of_b;
  };
  std::int64_t least = cost(best);
  const std::int64_t vertices = best.vertices;
  FixedVector<WorkAxis, max_work_axes> rows = group.grid;
  rows[axis].kind = WorkAxisKind::whole;
  for (std::int64_t parts = 1; parts <= target.tiles; parts *= 2) {
    const std::int64_t block = detail::block_for(group.grid[axis], grain, parts);
    if (block < (std::min)(columns, 2 * target.vector_width(dtype))) break;
    Partition cut = partition(rows, dtype, target.with_tiles(target.tiles / parts));
    cut.blocks[axis] = block;
    cut.vertices *= block_count(columns, block);
    const std::int64_t found = cost(cut);
    if (found >= least || cut.vertices < vertices) continue;
    least = found;
    best = cut;
  }
  return best;
}

}  // namespace tilewright::internal
