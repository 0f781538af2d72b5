#pragma once
#include <span>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"

namespace tilewright::detail {

/// The execution context in which an op runs that is appended to a graph: in the main graph the given one, else one of the
/// graph's calls; Normal only if all calls are.
constexpr ExecutionContext context_in(const Ir& ir, GraphId graph, ExecutionContext context) {
  if (graph == GraphId::main) return context;
  for (const auto& [caller, call] : ir.tables.record(graph).call_sites)
    if (const auto found = context_in(ir, caller, ir.tables.record(caller).nodes[call].context);
        found != ExecutionContext::Normal && found != ExecutionContext::Subgraph)
      return found;
  return ExecutionContext::Normal;
}
/// Whether a graph loads from streams or stores to them, itself or in graphs that it calls.
constexpr bool uses_streams(const Ir& ir, GraphId graph) {
  for (const Node& node : ir.tables.record(graph).nodes)
    if ((node.op->transfer && node.op->transfer(node.attributes).kind == TransferKind::stream) ||
        any_callee(node, [&ir](GraphId called) { return uses_streams(ir, called); }))
      return true;
  return false;
}
/// Whether the op that is appended now, which moves streams, runs only in runs; fails if not. `subject` names it.
constexpr bool check_stream_context(Ir& ir, const Text& subject) {
  const ExecutionContext context = context_in(ir, ir.tables.current_graph, ir.tables.current_context);
  if (context == ExecutionContext::Normal) return true;
  ir.fail(text(subject, " in ", to_text(context), ": Normal, as only runs have arrays for streams, expected"));
  return false;
}
/// Whether no input of an op is made by a later execution context than the op's; fails if one is.
constexpr bool check_input_contexts(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs) {
  if (ir.tables.current_graph != GraphId::main) return true;
  for (const Tensor& input : inputs) {
    const NodeId producer = ir.tables.record(input).producer;
    if (producer == NodeId::none) continue;
    const ExecutionContext made = ir.tables.record(GraphId::main).nodes[producer].context;
    if (context_order(made) <= context_order(ir.tables.current_context)) continue;
    ir.fail(text(op.name, ": ", to_text(input), " of ", to_text(made), " in ", to_text(ir.tables.current_context),
                 ", which runs before: a variable, a constant, or a tensor of this or an earlier execution context expected"));
    return false;
  }
  return true;
}

/// Makes `last`, nodes of the current graph, what the next nodes of a sequence run after. Nodes of other contexts stay: each
/// context has an order of its own.
constexpr void go_on_after(const Ir& ir, List<NodeId>& nodes, const List<NodeId>& last) {
  if (ir.tables.has_contexts) {
    const auto& graph = ir.tables.record(ir.tables.current_graph);
    erase_if(nodes, [&](NodeId node) {
      for (const NodeId other : last)
        if (graph.nodes[other].context == graph.nodes[node].context) return true;
      return false;
    });
    for (const NodeId node : last) nodes.push_back(node);
  } else {
    nodes = last;
  }
}

}  // namespace tilewright::detail
