#pragma once
// takes: an Ir
// gives: LiveCode: which nodes, outputs and calls a run needs, and which graphs are inlined
// keeps: the Ir

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/lower/namespace.hpp"
#include "tilewright/transform/check_code_loads.hpp"
#include "tilewright/transform/elementwise_graph.hpp"

namespace tilewright::internal {

/// Live parts of a program, which can change its results. Everything else is dropped before planning.
struct LiveCode {
  List<GraphId> order{};                      ///< graphs that are called, each before the graphs that it calls
  List<List<bool, NodeId>, GraphId> nodes{};  ///< whether the node is live
  List<List<bool>, GraphId> outputs{};  ///< by output of the graph: whether a call uses it
  List<List<bool>, GraphId> modified{};  ///< by input of the graph: whether a call lets it change the caller's tensor
  List<int, GraphId> calls{};                 ///< live calls of the graph; those of loops and conditionals count twice
  List<double, GraphId> runs{};  ///< upper bound of its executions in a run of the program; a double does not overflow
  List<bool, GraphId> is_update{};  ///< whether it changes its caller's tensors by a few elementwise ops
  List<bool, GraphId> is_loaded{};  ///< whether its code is loaded explicitly

  /// Returns whether a graph becomes part of its caller. This holds for graphs that are called only once, by a plain call. It
  /// also holds for updates, so that an update can be part of the product that computes a gradient. Graphs whose code is
  /// loaded explicitly stay separate.
  constexpr bool is_inlined(GraphId graph) const { return !is_loaded[graph] && (calls[graph] == 1 || is_update[graph]); }
};

namespace detail {
class LiveCodeFinder {
 public:
  constexpr explicit LiveCodeFinder(const Ir& ir, GraphId root)
      : ir_(ir),
        root_(root),
        visited_(ir.tables.graphs.size(), false),
        effects_(ir.tables.graphs.size(), false),
        repeated_(ir.tables.graphs.size(), false) {
    live_.calls.assign(ir.tables.graphs.size(), 0);
    live_.runs.assign(ir.tables.graphs.size(), 0);
    live_.runs[root] = 1;
    live_.is_update.assign(ir.tables.graphs.size(), false);
    live_.is_loaded.assign(ir.tables.graphs.size(), false);
    for (const auto& graph : ir.tables.graphs) {
      live_.nodes.push_back(List<bool, NodeId>(graph.nodes.size(), false));
      live_.outputs.push_back(List<bool>(graph.outputs.size(), false));
      live_.modified.push_back(List<bool>(graph.inputs.size(), false));
    }
    if (root != GraphId::main) live_.outputs[root].assign(live_.outputs[root].size(), true);
  }
  constexpr LiveCode run() {
    visit(root_);
    reverse_items(live_.order);
    for (std::size_t i = 0; i < live_.order.size(); ++i) mark(live_.order[i]);
    for (const GraphId graph : live_.order) live_.is_update[graph] = is_update(graph);
    erase_if(live_.order, [this](GraphId graph) { return graph != root_ && live_.calls[graph] == 0; });
    return std::move(live_);
  }

 private:
  /// Visits graphs depth first: callees come before their callers in `order`, and report whether they have side effects.
  constexpr void visit(GraphId graph) {
    if (visited_[graph]) return;
    visited_[graph] = true;
    for (const Node& node : ir_.tables.record(graph).nodes) {
      if (node.op->has_side_effect) effects_[graph] = true;
      for_each_callee(node, [&](GraphId callee, int) {
        visit(callee);
        if (effects_[callee]) effects_[graph] = true;
      });
    }
    live_.order.push_back(graph);
  }
  constexpr void mark(GraphId graph) {
    if (graph != root_ && live_.calls[graph] == 0) return;
    const GraphRecord& record = ir_.tables.record(graph);
    List<bool, TensorId> needed(record.tensors.size(), false);
    for (std::size_t i = 0; i < record.outputs.size(); ++i)
      if (live_.outputs[graph][i]) needed[record.outputs[i]] = true;
    for (std::size_t i = record.nodes.size(); i-- > 0;) {
      const auto n = NodeId(i);
      const Node& node = record.nodes[n];
      if (!lives(node, needed)) continue;
      live_.nodes[graph][n] = true;
      for (const TensorId input : node.inputs) needed[input] = true;
      if (node.called_graph != GraphId::none) mark_called(node, live_.runs[graph], needed);
      if (const GraphId loaded = loaded_graph(node); loaded != GraphId::none) live_.is_loaded[loaded] = true;
    }
  }
  constexpr bool lives(const Node& node, const List<bool, TensorId>& needed) const {
    if (node.op->has_side_effect || node.op->modifies >= 0 || !node.modified.empty()) return true;
    if (any_callee(node, [this](GraphId callee) { return effects_[callee]; })) return true;
    for (const TensorId output : node.outputs)
      if (needed[output]) return true;
    return false;
  }
  /// `needed`: which of the caller's tensors are used; `runs`: executions of the caller.
  constexpr void mark_called(const Node& node, double runs, const List<bool, TensorId>& needed) {
    const LoopAttributes loop = is_loop(node) ? unpack<LoopAttributes>(node.attributes) : LoopAttributes{.count = 1};
    const std::int64_t carried = loop.carried;
    const bool is_plain = is_plain_call(node);
    for_each_callee(node, [&](GraphId callee, int first_input) {
      live_.calls[callee] += is_plain ? 1 : 2;
      live_.runs[callee] += runs * static_cast<double>(loop.count);
      if (!is_plain) repeated_[callee] = true;
      List<bool>& outputs = live_.outputs[callee];
      for (std::size_t i = 0; i < node.outputs.size(); ++i)  // what a loop carries is used by its next iteration
        if (needed[node.outputs[i]] || static_cast<std::int64_t>(i) < carried) outputs[i] = true;
      List<bool>& inputs = live_.modified[callee];
      const int count = static_cast<int>(inputs.size());
      for (int modified : node.modified)
        if (const int input = modified - first_input; input >= 0 && input < count) inputs[input] = true;
    });
  }

  /// Returns whether a graph that is not part of loops and conditionals only updates its caller's tensors.
  constexpr bool is_update(GraphId graph) const {
    return !repeated_[graph] && is_elementwise(ir_.tables.record(graph)) && has_item(live_.modified[graph], true);
  }

  const Ir& ir_;
  GraphId root_;
  LiveCode live_{};
  List<bool, GraphId> visited_;
  List<bool, GraphId> effects_;  // the graph has side effects, itself or in graphs that it calls
  List<bool, GraphId> repeated_;  // called by loops or conditionals
};
}  // namespace detail

/// Finds the ops on which side effects and used results depend, through calls. An output of a called graph is live if any call
/// uses it. Linear in ops and tensors. `root`: the graph that runs; all outputs of a graph other than the main graph are live.
constexpr LiveCode find_live_code(const Ir& ir, GraphId root = GraphId::main) { return detail::LiveCodeFinder(ir, root).run(); }

}  // namespace tilewright::internal
