#pragma once

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/callees.hpp"

namespace tilewright::detail {

/// Returns the execution context of an op that is appended to a graph: the given one in the main graph, otherwise a context of
/// the graph's calls. The result is Normal only if all calls are.
constexpr ExecutionContext context_in(const Ir& ir, GraphId graph, ExecutionContext context) {
  if (graph == GraphId::main) return context;
  ExecutionContext found = ExecutionContext::Normal;
  any_call(ir, graph, [&](GraphId caller, NodeId call) {
    if (caller == GraphId::main) found = ir.tables.record(caller).nodes[call].context;
    return found != ExecutionContext::Normal;
  });
  return found;
}
/// Returns whether a graph loads from streams or stores to them, itself or in graphs that it calls.
constexpr bool uses_streams(const Ir& ir, GraphId graph) {
  return any_node(ir, graph, [](const Node& node) {
    return node.op->transfer && node.op->transfer(node.attributes).kind == TransferKind::stream;
  });
}
/// Checks that the op that is being appended may move streams: that its execution context is a run, not an upload or a download.
/// Fails if not; `subject` names the op in the error.
constexpr bool check_stream_context(Ir& ir, const Text& subject) {
  const ExecutionContext context = context_in(ir, ir.tables.current_graph, ir.tables.current_context);
  if (context == ExecutionContext::Normal) return true;
  ir.fail(text(subject, " in ", to_text(context), ": Normal, as only runs have arrays for streams, expected"));
  return false;
}
/// Checks that no input of an op comes from a later execution context than the op's. Fails if one does.
constexpr bool check_input_contexts(Ir& ir, const OpInfo& op, Span<const Tensor> inputs) {
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

/// Sets `nodes`, after which the next op of a sequence runs, to `last`; all are nodes of the current graph. Each execution
/// context has a separate order, so nodes of contexts that `last` does not have remain in the list.
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
