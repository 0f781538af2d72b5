#pragma once
#include "tilewright/graph/call.hpp"
#include "tilewright/graph/merge_exchange.hpp"
#include "tilewright/ops/op.hpp"

namespace tilewright {

struct CodeLoadAttributes {
  std::int64_t graph = -1;
};

/// Brings a graph's code to the tiles. It computes nothing: the planner counts the code from here to the graph's last call.
struct RemoteCodeLoad : Op<RemoteCodeLoad> {
  static constexpr std::string_view name = "RemoteCodeLoad";
  static constexpr bool has_side_effect = true;
  using Attributes = CodeLoadAttributes;
  static constexpr Transfer transfer(const PackedAttributes& attributes) {
    return {TransferKind::code, unpack<Attributes>(attributes).graph};
  }
  static constexpr void infer(Inference&) {}
};

namespace detail {
/// Whether the graph is called after a node: in the node's graph, or after a call of that.
constexpr bool is_called_after(const Ir& ir, int graph, int place, int node) {
  const List<Node>& nodes = ir.record(place).nodes;
  for (std::size_t n = static_cast<std::size_t>(node) + 1; n < nodes.size(); ++n)
    if (calls(ir, nodes[n], graph)) return true;
  for (const auto& [caller, call] : ir.record(place).call_sites)
    if (is_called_after(ir, graph, caller, call)) return true;
  return false;
}
}  // namespace detail

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
  if (graph.id() == ir.current_graph || graph.id() == 0) {
    ir.fail(text("remote_code_load: ", graph.id() == 0 ? "the main graph" : graph.name(), " in ",
                 ir.current_graph == 0 ? "the main graph" : ir.current().name.view(),
                 ": a graph that does not run yet expected"));
    return;
  }
  apply_all<RemoteCodeLoad>(ir, {}, {graph.id()});
}
}  // namespace ops

/// Fails if a graph's code is loaded, and the graph is not called afterwards.
constexpr void check_code_loads(Ir& ir) {
  for (std::size_t g = 0; g < ir.graphs.size(); ++g) {
    const List<Node>& nodes = ir.graphs[g].nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].op != &op_info<RemoteCodeLoad>) continue;
      const int graph = static_cast<int>(unpack<CodeLoadAttributes>(nodes[n].attributes).graph);
      if (!detail::is_called_after(ir, graph, static_cast<int>(g), static_cast<int>(n)))
        ir.fail(text("remote_code_load: ", ir.record(graph).name, ", which is not called afterwards: a later call expected"));
    }
  }
}

}  // namespace tilewright
