#pragma once
// takes: an Ir
// gives: loops whose graph changes no input that the loop gives by value: where another call changes it, a wrapper graph
// keeps: results; the graphs of other nodes

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/program/call.hpp"

namespace tilewright {

namespace detail {
/// Returns, by graph and input, whether a call lets the graph change the caller's tensor.
constexpr List<List<bool>, GraphId> find_changed_inputs(const Ir& ir) {
  List<List<bool>, GraphId> changed;
  for (const GraphRecord& graph : ir.tables.graphs) changed.push_back(List<bool>(graph.inputs.size(), false));
  for (const GraphRecord& graph : ir.tables.graphs)
    for (const Node& node : graph.nodes)
      for_each_callee(node, [&](GraphId callee, int first_input) {
        List<bool>& inputs = changed[callee];
        const int count = static_cast<int>(inputs.size());
        for (int modified : node.modified)
          if (const int input = modified - first_input; input >= 0 && input < count) inputs[input] = true;
      });
  return changed;
}

/// Wraps the graph of a loop: the loop then repeats a graph that only calls it, with the same inputs.
constexpr void add_call_in_loop(Ir& ir, GraphId graph, NodeId node) {
  const auto loop = [&]() -> Node& { return ir.tables.record(graph).nodes[node]; };
  const GraphId called = loop().called_graph;
  const GraphId caller = ir.tables.add_derived_graph(called, "_iteration");
  const GraphScope scope(ir.graph(caller));
  List<Tensor> inputs;
  for (const Tensor& input : ir.graph(called).inputs()) inputs.push_back(detail::add_graph_input(ir, input.spec()));
  const NodeId call = append_node(ir, call_info, inputs, specs_of(ir.graph(called).outputs()), {}, called);
  ir.tables.current().nodes[call].modified = loop().modified;
  ir.tables.current().outputs = ir.tables.current().nodes[call].outputs;
  loop().called_graph = caller;
}
}  // namespace detail

/// Adds wrapper graphs to loops. Each iteration must see the values that inputs by value had before the loop. If another call
/// lets the graph change such an input, the graph's body changes it in place. In this case, the loop gets a wrapper graph,
/// whose call copies the input in each iteration.
constexpr void keep_loop_inputs(Ir& ir) {
  const auto changed = detail::find_changed_inputs(ir);
  for (std::size_t g = 0; g < changed.size(); ++g)
    for (std::size_t n = 0; n < ir.tables.record(GraphId(g)).nodes.size(); ++n) {
      const auto graph = GraphId(g);
      const Node& node = ir.tables.record(graph).nodes[NodeId(n)];
      if (!detail::is_loop(node)) continue;
      const List<bool>& inputs = changed[node.called_graph];
      const auto loop = unpack<LoopAttributes>(node.attributes);
      bool keeps = true;
      for (auto i = static_cast<std::size_t>(loop.carried + loop.sliced); i < inputs.size(); ++i)
        keeps = keeps && (!inputs[i] || has_item(node.modified, static_cast<int>(i)));
      if (!keeps) detail::add_call_in_loop(ir, graph, NodeId(n));
    }
}

}  // namespace tilewright
