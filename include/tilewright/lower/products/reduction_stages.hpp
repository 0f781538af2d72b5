#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/target/amp.hpp"
#include "tilewright/target/ipu_exchange_cycles.hpp"
#include "tilewright/target/vertex_cycles.hpp"

namespace tilewright::internal::detail {

constexpr void take_reductions_whole(Work& work) {
  for (int i = 0; i < work.axes.size(); ++i)
    if (gives_partials(work.axes[i].kind)) work.axes[i].kind = WorkAxisKind::whole;
}

/// Returns the cycles of a step in which a tile combines `parts` parts of each of `results` results, with its barrier.
constexpr std::int64_t combining_cycles(const Operation& combining, std::int64_t results, std::int64_t parts,
                                        const IpuModel& model) {
  const TensorSpec& given = combining.operands[0].spec;
  const bool lines = combining.operands[1].spec.shape.rank == 0;
  const TileTraffic traffic{.in = results * parts * size_of(given.dtype), .fragments = parts};
  return sync_cycles(model).cycles + exchange_cycles(model, tile_exchange_cycles(model, traffic)).cycles +
         vertex_cycles(*combining.op, given.dtype, results, parts, model, lines ? TermOrder::lines : TermOrder::rows).cycles;
}

/// Divides an operation that combines n parts, which lie along the first axis of its first input, into two stages if these take
/// fewer cycles. The first stage combines about sqrt(n) parts at a time, and the second stage combines its results. Returns
/// whether the operation is divided; if so, its blocks are set.
constexpr bool set_stage(Operation& combining, const Target& target) {
  Work& work = combining.work;
  const int axis = work.follows(0, 0);
  if (axis < 0 || work.axes[axis].kind != WorkAxisKind::reduction || work.axes[axis].extent < min_parts_of_stages) return false;
  const std::int64_t parts = work.axes[axis].extent, results = combining.operands[1].spec.nelms();
  std::int64_t depth = 4;
  while (depth * depth < parts) ++depth;
  const std::int64_t groups = block_count(parts, depth);
  Work whole = work;
  take_reductions_whole(whole);
  const auto results_on = [&](std::int64_t tiles, Partition& cut) {
    cut = partition(whole.axes, combining.operands[0].spec.dtype, target.with_tiles(tiles));
    return block_count(results, cut.vertices);
  };
  Partition at_once, in_group;
  const std::int64_t last = results_on(target.tiles, at_once),
                     first = results_on(std::max<std::int64_t>(1, target.tiles / groups), in_group);
  const IpuModel& model = *target.ipu;
  if (combining_cycles(combining, first, depth, model) + combining_cycles(combining, last, groups, model) >=
      combining_cycles(combining, last, parts, model))
    return false;
  for (int i = 0; i < work.axes.size(); ++i) work.axes[i].block = in_group.blocks[i];
  work.axes[axis].block = depth;
  return true;
}

}  // namespace tilewright::internal::detail
