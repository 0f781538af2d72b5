#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/transform/elementwise_graph.hpp"

namespace tilewright::detail {

struct CallSite {
  GraphId graph{};
  NodeId node{};
};

/// Returns whether a graph is called several times, in a program without several IPUs, execution contexts, sharded tensors and
/// open in_sequence scopes.
constexpr bool may_have_repeated_graphs(const Ir& ir) {
  if (ir.failed() || ir.tables.has_contexts || ir.tables.has_placements || !ir.tables.sequences.empty() ||
      !ir.tables.meta_shapes.empty())
    return false;
  for (const GraphRecord& graph : ir.tables.graphs)
    if (graph.call_sites.size() > 1) return true;
  return false;
}

/// Finds the graphs that a run calls several times, all by plain calls, and those that are called once and lead to such a graph.
/// Graphs that are inlined at each call, and calls in graphs with in_sequence or merge_exchange scopes, do not count.
class RepeatedGraphs {
 public:
  constexpr explicit RepeatedGraphs(const Ir& ir)
      : ir_(ir), calls_(ir.tables.graphs.size()), is_called_otherwise_(ir.tables.graphs.size(), false) {
    List<bool, GraphId> visited(ir.tables.graphs.size(), false), found(visited);
    visit(GraphId::main, visited);
    for (const GraphId graph : called_first_) found[graph] = leads_to_repeated(graph, found);
    for (const GraphId graph : called_first_)
      if (found[graph]) in_order_.push_back(graph);
    reverse_items(in_order_);
  }
  /// Returns the graphs, each before those that it calls.
  constexpr const List<GraphId>& in_order() const { return in_order_; }
  /// Returns all calls of a graph.
  constexpr const List<CallSite>& calls(GraphId graph) const { return calls_[graph]; }

 private:
  constexpr void visit(GraphId graph, List<bool, GraphId>& visited) {
    if (std::exchange(visited[graph], true)) return;
    const List<Node, NodeId>& nodes = ir_.tables.record(graph).nodes;
    const bool is_free = !has_order(graph);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const Node& node = nodes[NodeId(n)];
      if (node.op->transfer)
        if (const Transfer moved = node.op->transfer(node.attributes); moved.kind == TransferKind::code)
          is_called_otherwise_[GraphId(moved.number)] = true;  // its code is loaded for calls
      for_each_callee(node, [&](GraphId callee, int) {
        if (is_free && is_plain_call(node)) calls_[callee].push_back({graph, NodeId(n)});
        else is_called_otherwise_[callee] = true;
        visit(callee, visited);
      });
    }
    called_first_.push_back(graph);
  }
  constexpr bool has_order(GraphId graph) const {
    if (!ir_.tables.record(graph).sequence.empty()) return true;
    for (const MergedExchanges& exchanges : ir_.tables.merged_exchanges)
      if (exchanges.graph == graph) return true;
    return false;
  }
  constexpr bool leads_to_repeated(GraphId graph, const List<bool, GraphId>& found) const {
    const List<CallSite>& calls = calls_[graph];
    if (calls.empty() || is_called_otherwise_[graph] || has_order(graph)) return false;
    const GraphRecord& record = ir_.tables.record(graph);
    if (calls.size() > 1)
      return !is_elementwise(record) || ir_.tables.record(calls[0].graph).nodes[calls[0].node].modified.empty();
    for (const Node& node : record.nodes)
      if (any_callee(node, [&](GraphId callee) { return found[callee]; })) return true;
    return false;
  }

  const Ir& ir_;
  List<List<CallSite>, GraphId> calls_;
  List<bool, GraphId> is_called_otherwise_;  // by loops and conditionals, or its code is loaded
  List<GraphId> called_first_{};             // graphs that the main graph calls, directly or not
  List<GraphId> in_order_{};
};

/// Finds the calls of all graphs again.
constexpr void find_call_sites(Ir& ir) {
  for (GraphRecord& graph : ir.tables.graphs) graph.call_sites.clear();
  for (std::size_t g = 0; g < ir.tables.graphs.size(); ++g) {
    const List<Node, NodeId>& nodes = ir.tables.record(GraphId(g)).nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      for_each_callee(nodes[NodeId(n)],
                      [&](GraphId callee, int) { ir.tables.record(callee).call_sites.push_back({GraphId(g), NodeId(n)}); });
  }
}

}  // namespace tilewright::detail
