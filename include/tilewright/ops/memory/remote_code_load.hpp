#pragma once
#include "tilewright/graph/graph.hpp"
#include "tilewright/op/op.hpp"

namespace tilewright {

struct CodeLoadAttributes {
  std::int64_t graph = -1;
};

/// Loads a graph's code to the tiles. It computes nothing: the planner counts the code from here to the graph's last call.
struct RemoteCodeLoad : Op<RemoteCodeLoad> {
  static constexpr std::string_view name = "RemoteCodeLoad";
  constexpr operator Effects() const { return Effects{.has_side_effect = true}; }
  using Attributes = CodeLoadAttributes;
  constexpr operator Movement() const { return Movement{.transfer = transfer}; }
  static constexpr Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = TransferKind::code, .number = unpack<Attributes>(attributes).graph};
  }
  static constexpr void infer(Inference&) {}
};

namespace ops {
/// Keeps the graph's code in the tiles' memory from here to its last later call; before and after, other code can use the memory.
/// The graph has its own code, even if only one call of it exists. The op does not change results. If the graph is also called
/// where it is not loaded, its code is always in memory.
///
/// `destination`: where the code goes; "executable" is the only value. Fails for the graph that contains the op, and for a graph
/// that is not called afterwards.
constexpr void remote_code_load(Graph graph, std::string_view destination = "executable") {
  Ir& ir = graph.ir();
  if (ir.failed()) return;
  if (destination != "executable") {
    ir.fail(text("remote_code_load: '", destination, "' as destination of ", graph.name(), ": 'executable' expected"));
    return;
  }
  if (graph.id() == ir.tables.current_graph || graph.id() == GraphId::main) {
    ir.fail(text("remote_code_load: ", graph.id() == GraphId::main ? "the main graph" : graph.name(), " in ",
                 ir.tables.current_graph == GraphId::main ? "the main graph" : ir.tables.current().name.view(),
                 ": a graph that does not run yet expected"));
    return;
  }
  apply_all<RemoteCodeLoad>(ir, {}, {static_cast<std::int64_t>(graph.id())});
}
}  // namespace ops

}  // namespace tilewright
