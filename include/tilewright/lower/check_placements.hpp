#pragma once
#include "tilewright/lower/dead_code.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// Fails for an op on an IPU, or on IO tiles, that the target does not have. The host runs ops of IO tiles as others.
constexpr void check_placements(const Ir& ir, const LiveCode& live, const Target& target, Plan& plan) {
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.record(graph);
    for (std::size_t n = 0; n < record.nodes.size() && plan.failure.empty(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      const auto fail = [&](const auto&... problem) {
        const bool is_named = !record.name.empty();
        plan.fail(text(node.op->name, ".", node.id, is_named ? " in " : "", record.name, " on ", to_text(node.placement),
                       problem..., " expected"));
      };
      if (!live.nodes[graph][NodeId(n)] || !node.placement.is_known()) continue;
      if (node.placement.ipu >= target.ipus)
        fail(": the target has ", target.ipus, target.ipus == 1 ? " IPU" : " IPUs", " in a replica: Target::with_ipus(",
             node.placement.ipu + 1, ")");
      else if (target.ipu != nullptr && target.io_tiles == 0 && node.placement.tile_set == TileSet::io)  // the host has none
        fail(": the target has no IO tiles: Target::with_io_tiles");
    }
  }
}

}  // namespace tilewright::internal
