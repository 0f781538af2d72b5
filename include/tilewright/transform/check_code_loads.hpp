#pragma once
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"

namespace tilewright {

namespace detail {
/// Returns the graph whose code a node loads, or none.
constexpr GraphId loaded_graph(const Node& node) {
  if (!node.op->transfer) return GraphId::none;
  const Transfer transfer = node.op->transfer(node.attributes);
  return transfer.kind == TransferKind::code ? GraphId(transfer.number) : GraphId::none;
}
/// Returns whether the graph is called after a node: in the node's graph, or after a call of that graph.
constexpr bool is_called_after(const Ir& ir, GraphId graph, GraphId place, NodeId node) {
  const auto is_called_behind = [&](GraphId caller, NodeId call) {
    const List<Node, NodeId>& nodes = ir.tables.record(caller).nodes;
    for (std::size_t n = static_cast<std::size_t>(call) + 1; n < nodes.size(); ++n)
      if (calls(ir, nodes[NodeId(n)], graph)) return true;
    return false;
  };
  return is_called_behind(place, node) || any_call(ir, place, is_called_behind);
}
}  // namespace detail

/// Fails if a graph's code is loaded and the graph is not called afterwards.
constexpr void check_code_loads(Ir& ir) {
  for (std::size_t g = 0; g < ir.tables.graphs.size(); ++g) {
    const List<Node, NodeId>& nodes = ir.tables.record(GraphId(g)).nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (const GraphId graph = detail::loaded_graph(nodes[NodeId(n)]);
          graph != GraphId::none && !detail::is_called_after(ir, graph, GraphId(g), NodeId(n)))
        ir.fail(
            text("remote_code_load: ", ir.tables.record(graph).name, ", which is not called afterwards: a later call expected"));
  }
}

}  // namespace tilewright
