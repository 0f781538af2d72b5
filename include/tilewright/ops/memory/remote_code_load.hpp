#pragma once
#include "tilewright/graph/graph.hpp"
#include "tilewright/op/op.hpp"

namespace tilewright {

struct CodeLoadAttributes {
  std::int64_t graph = -1;
};

/// Brings a graph's code to the tiles. It computes nothing: the planner counts the code from here to the graph's last call.
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
/// From here on, and until its last call that follows, the graph's code is in the tiles' memory; before and after, other code may
/// be. The graph keeps code of its own, also if there is one call of it only. Results are the same without this op. If the graph
/// is called where it is not loaded, too, its code is there always.
///
/// `destination` is where the code goes: "executable" is the only one. Fails for the graph that the op would stand in, and for a
/// graph that is not called afterwards.
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
