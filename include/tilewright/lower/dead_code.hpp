#pragma once
// takes: an Ir
// gives: LiveCode: which nodes, outputs and calls a run needs, and which graphs are inlined
// keeps: the Ir
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/conditional.hpp"
#include "tilewright/graph/repeat.hpp"
#include "tilewright/ops/remote_code_load.hpp"

namespace tilewright {

/// What of a program can change its results: everything else is dropped before it is planned.
struct LiveCode {
  List<int> order{};                  ///< graphs that are called, each before the graphs that it calls
  List<List<char>> nodes{};    ///< by graph and node
  List<List<char>> outputs{};  ///< by graph and output: whether some call uses it
  List<List<char>> modified{};  ///< by graph and input: whether some call lets the graph change the caller's tensor
  List<int> calls{};  ///< by graph: live calls of it; those of loops and conditionals count twice

  List<char> is_update{};  ///< by graph: it changes its caller's tensors by a few elementwise ops
  List<char> is_loaded{};  ///< by graph: whether remote_code_load brings its code

  /// Graphs that are called only once, by a plain call, become part of their caller; and so do updates, which can then be part of
  /// the product that makes a gradient. Code that comes and goes stays apart.
  constexpr bool is_inlined(int graph) const {
    const auto g = static_cast<std::size_t>(graph);
    return is_loaded[g] == 0 && (calls[g] == 1 || is_update[g] != 0);
  }
};

namespace detail {
class LiveCodeFinder {
 public:
  constexpr explicit LiveCodeFinder(const Ir& ir)
      : ir_(ir), visited_(ir.graphs.size(), 0), effects_(ir.graphs.size(), 0), repeated_(ir.graphs.size(), 0) {
    live_.calls.assign(ir.graphs.size(), 0);
    live_.is_update.assign(ir.graphs.size(), 0);
    live_.is_loaded.assign(ir.graphs.size(), 0);
    for (const auto& graph : ir.graphs) {
      live_.nodes.push_back(List<char>(graph.nodes.size(), 0));
      live_.outputs.push_back(List<char>(graph.outputs.size(), 0));
      live_.modified.push_back(List<char>(graph.inputs.size(), 0));
    }
  }
  constexpr LiveCode run() {
    visit(0);
    std::ranges::reverse(live_.order);
    for (std::size_t i = 0; i < live_.order.size(); ++i) mark(live_.order[i]);
    for (int graph : live_.order) live_.is_update[at(graph)] = is_update(graph) ? 1 : 0;
    erase_if(live_.order, [this](int graph) { return graph != 0 && live_.calls[at(graph)] == 0; });
    return std::move(live_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Depth first: callees come before their callers in `order`, and tell whether they have side effects.
  constexpr void visit(int graph) {
    if (visited_[at(graph)] != 0) return;
    visited_[at(graph)] = 1;
    for (const Node& node : ir_.record(graph).nodes) {
      if (node.op->has_side_effect) effects_[at(graph)] = 1;
      for (int called : {node.called_graph, node.else_graph}) {
        if (called < 0) continue;
        visit(called);
        if (effects_[at(called)] != 0) effects_[at(graph)] = 1;
      }
    }
    live_.order.push_back(graph);
  }
  constexpr void mark(int graph) {
    if (graph != 0 && live_.calls[at(graph)] == 0) return;
    const GraphRecord& record = ir_.record(graph);
    List<char> needed(record.tensors.size(), 0);
    for (std::size_t i = 0; i < record.outputs.size(); ++i)
      if (live_.outputs[at(graph)][i] != 0) needed[at(record.outputs[i])] = 1;
    for (std::size_t n = record.nodes.size(); n-- > 0;) {
      const Node& node = record.nodes[n];
      bool lives = node.op->has_side_effect || node.op->modifies >= 0 || !node.modified.empty() ||
                   has_effects(node.called_graph) || has_effects(node.else_graph);
      for (int output : node.outputs) lives = lives || needed[at(output)] != 0;
      if (!lives) continue;
      live_.nodes[at(graph)][n] = 1;
      for (int input : node.inputs) needed[at(input)] = 1;
      if (node.called_graph >= 0) mark_called(node, needed);
      if (node.op == &op_info<RemoteCodeLoad>)
        live_.is_loaded[at(static_cast<int>(unpack<CodeLoadAttributes>(node.attributes).graph))] = 1;
    }
  }
  constexpr bool has_effects(int graph) const { return graph >= 0 && effects_[at(graph)] != 0; }
  /// `needed` says of the caller's tensors which are used.
  constexpr void mark_called(const Node& node, const List<char>& needed) {
    std::int64_t carried = 0;
    int first_input = 0;
    if (node.op == &loop_info) carried = unpack<LoopAttributes>(node.attributes).carried;
    if (node.op == &conditional_info) first_input = 1;
    for (int called : {node.called_graph, node.else_graph}) {
      if (called < 0) continue;
      live_.calls[at(called)] += node.op == &call_info ? 1 : 2;
      if (node.op != &call_info) repeated_[at(called)] = 1;
      auto& outputs = live_.outputs[at(called)];
      for (std::size_t i = 0; i < node.outputs.size(); ++i)  // what a loop carries is used by its next iteration
        if (needed[at(node.outputs[i])] != 0 || static_cast<std::int64_t>(i) < carried) outputs[i] = 1;
      auto& inputs = live_.modified[at(called)];
      for (int modified : node.modified)
        if (const int input = modified - first_input; input >= 0 && at(input) < inputs.size()) inputs[at(input)] = 1;
      if (node.else_graph >= 0) first_input += static_cast<int>(unpack<ConditionalAttributes>(node.attributes).then_inputs);
    }
  }

  /// Whether a graph that is not part of loops and conditionals only updates its caller's tensors.
  constexpr bool is_update(int graph) const {
    constexpr std::size_t most_ops = 32;
    const GraphRecord& record = ir_.record(graph);
    if (repeated_[at(graph)] != 0 || record.nodes.size() > most_ops) return false;
    for (const Node& node : record.nodes)
      if (node.called_graph >= 0 || !(node.op->elementwise || node.op->view || node.op->expand || is_of_scalars(record, node)))
        return false;
    return std::ranges::find(live_.modified[at(graph)], 1) != live_.modified[at(graph)].end();
  }
  static constexpr bool is_of_scalars(const GraphRecord& record, const Node& node) {
    for (int input : node.inputs)
      if (record.tensors[at(input)].spec.nelms() != 1) return false;
    return true;
  }

  const Ir& ir_;
  LiveCode live_{};
  List<char> visited_;
  List<char> effects_;
  List<char> repeated_;  // called by loops or conditionals
};
}  // namespace detail

/// Finds the ops that side effects and used results depend on, through calls. An output of a called graph is live if any
/// call uses it. Linear in ops and tensors.
constexpr LiveCode find_live_code(const Ir& ir) { return detail::LiveCodeFinder(ir).run(); }

}  // namespace tilewright
