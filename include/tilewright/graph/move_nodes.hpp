#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/emit.hpp"

// For scopes whose ops move to another graph when the scope ends, and for transforms that put ops between others.

namespace tilewright::detail {

/// Removes the nodes from `first` on from their graph, and all references to them. Their results have no producer afterwards, so
/// no op can use them.
constexpr void remove_nodes(Ir& ir, GraphId graph, NodeId first) {
  GraphRecord& record = ir.tables.record(graph);
  for (auto n = static_cast<std::size_t>(first); n < record.nodes.size(); ++n)
    for (const TensorId output : record.nodes[NodeId(n)].outputs) record.tensors[output].producer = NodeId::none;
  record.nodes.resize(static_cast<std::size_t>(first));
  for (GraphRecord& each : ir.tables.graphs)
    erase_if(each.call_sites, [&](const auto& site) { return site.first == graph && site.second >= first; });
  erase_if(record.sequence, [&](const auto& edge) { return edge.second >= first; });
  erase_if(ir.tables.merged_exchanges, [&](const MergedExchanges& scope) { return scope.graph == graph && scope.end > first; });
  for (SequenceScope& scope : ir.tables.sequences)
    if (scope.graph == graph)
      for (auto* last : {&scope.before, &scope.last}) erase_if(*last, [&](NodeId node) { return node >= first; });
}

/// Appends a copy of a node of graph `from` to the current graph. `value_of` returns the input for each input of the node. Stores
/// the results in `values`, by the node's outputs.
constexpr void append_copy(Ir& ir, GraphId from, const Node& node, List<Tensor, TensorId>& values, auto& value_of) {
  List<Tensor> inputs;
  List<TensorSpec> specs;
  for (const TensorId input : node.inputs) inputs.push_back(value_of(input));
  for (const TensorId output : node.outputs) specs.push_back(ir.tables.record(from).tensors[output].spec);
  const int outer_scope = std::exchange(ir.tables.current_scope, node.scope);
  const NodeId copy = append_node(ir, *node.op, inputs, specs, node.attributes, node.called_graph, node.placement);
  ir.tables.current_scope = outer_scope;
  Node& copied = ir.tables.current().nodes[copy];
  copied.else_graph = node.else_graph;
  copied.modified = node.modified;
  for_each_callee(node,
                  [&](GraphId callee, int) { ir.tables.record(callee).call_sites.push_back({ir.tables.current_graph, copy}); });
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const TensorRecord& original = ir.tables.record(from).tensors[node.outputs[o]];
    TensorRecord& to = ir.tables.current().tensors[copied.outputs[o]];
    to.meta_shape = original.meta_shape;
    to.placement = original.placement;
    values[node.outputs[o]] = {ir, ir.tables.current_graph, copied.outputs[o]};
  }
}

/// Updates references to nodes of a graph that have moved: `moved` has the new number of each. Nodes of one exchange must still
/// be neighbours.
constexpr void follow_moved_nodes(Ir& ir, GraphId graph, const List<NodeId, NodeId>& moved) {
  for (auto& [before, after] : ir.tables.record(graph).sequence) before = moved[before], after = moved[after];
  for (MergedExchanges& exchanges : ir.tables.merged_exchanges) {
    if (exchanges.graph != graph || exchanges.first == exchanges.end) continue;
    const auto last = moved[NodeId(static_cast<int>(exchanges.end) - 1)];
    exchanges.first = moved[exchanges.first], exchanges.end = NodeId(static_cast<int>(last) + 1);
  }
}

/// Returns whether nodes of a graph may move: no scope of the graph is open, and all nodes have one execution context.
constexpr bool may_move_nodes(const Ir& ir, GraphId graph) {
  for (const SequenceScope& scope : ir.tables.sequences)
    if (scope.graph == graph) return false;
  return !ir.failed() && !(graph == GraphId::main && ir.tables.has_contexts);
}

/// Copies a constant of another graph into the current one.
constexpr Tensor copy_constant(Ir& ir, const TensorRecord& constant) {
  return {ir, ir.tables.current_graph, ir.tables.add_tensor({constant.spec, TensorKind::constant, constant.payload})};
}

}  // namespace tilewright::detail
