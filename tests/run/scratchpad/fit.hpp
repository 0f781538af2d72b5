#pragma once
#include "rules.hpp"
#include "tilewright/lower/draft/tile_fit.hpp"

namespace scratchpad {

using std::int64_t;
using tw::internal::BodyDraft, tw::internal::GridAxes, tw::internal::Group, tw::internal::Partition, tw::internal::Value;
using tw::internal::detail::TileFit;

/// Returns the bytes of a group's largest vertex in the scratchpad: of each view of a storage once, and of intermediate results.
constexpr int64_t vertex_bytes(const BodyDraft& draft, const Group& group, const Partition& cut) {
  struct Known {
    const Value* value = nullptr;
    GridAxes axes{};
  };
  tw::List<Known> known;
  int64_t bytes = 0;
  for_each_operand(draft, group, [&](const tw::internal::Operation& operation, int o, const tw::internal::Member& member) {
    const Value& value = operation.operands[o];
    const GridAxes axes(operation, member, o);
    if (draft.storage(value.storage).location.base == tw::internal::Base::position) return;
    if (operation.op != nullptr && stays(operation.op->tag, o)) return;
    for (const Known& each : known)
      if (each.value->storage == value.storage && each.value->layout == value.layout && each.value->spec == value.spec &&
          each.axes == axes)
        return;
    known.push_back({&value, axes});
    bytes += tw::internal::align(block_bytes(value, axes, cut.blocks));
  });
  return bytes;
}

/// The machine's rule of partition: its core runs any number of vertices, one after the other. As long as the blocks of a vertex
/// need more than half of the scratchpad, the axis is halved that saves most bytes. The other half is for the next vertex, whose
/// blocks are brought meanwhile. Sums are never divided.
constexpr TileFit fit(const BodyDraft& draft, const Group& group, const tw::Target& target) {
  const auto& first = draft.operation(group.members[0]);
  const tw::DType dtype = first.operands[first.input_count].spec.dtype;
  TileFit best{tw::internal::partition(group.grid, dtype, target)};
  best.bytes = vertex_bytes(draft, group, best.partition);
  while (best.bytes > tw::internal::detail::vertex_limit(target)) {
    const TileFit before = best;
    for (int i = 0; i < group.grid.size(); ++i) {
      const tw::WorkAxis& axis = group.grid[i];
      const int64_t grain = tw::internal::detail::grain_of(axis, dtype, target), block = before.partition.blocks[i];
      if (axis.kind != tw::WorkAxisKind::parallel || block <= grain) continue;
      TileFit other = before;
      const auto count = [&] { return tw::internal::block_count(axis.extent, other.partition.blocks[i]); };
      other.partition.vertices /= count();
      other.partition.blocks[i] = tw::internal::block_count(tw::internal::block_count(block, grain), 2) * grain;
      other.partition.vertices *= count();
      other.bytes = vertex_bytes(draft, group, other.partition);
      if (other.bytes < best.bytes) best = other;
    }
    if (best.bytes == before.bytes) break;  // count_memory refuses the program
  }
  return best;
}

}  // namespace scratchpad
