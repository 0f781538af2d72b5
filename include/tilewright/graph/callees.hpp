#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

struct ConditionalAttributes {
  std::int64_t then_inputs = 0;  ///< inputs of the graph for true, which stand after the condition
};

namespace detail {

/// Calls f(graph, first_input) for each graph that a node calls: none, one for a call or loop, or two for a conditional, the true
/// branch first. Input `first_input` of the node is passed to input 0 of the graph. f may change the Ir.
template <class F>
constexpr void for_each_callee(const Node& node, F&& f) {
  const GraphId called = node.called_graph, otherwise = node.else_graph;  // copies: f may move the node
  if (called == GraphId::none) return;
  if (otherwise == GraphId::none) {
    f(called, 0);
  } else {
    const auto then_inputs = static_cast<int>(unpack<ConditionalAttributes>(node.attributes).then_inputs);
    f(called, 1);
    f(otherwise, 1 + then_inputs);
  }
}

/// Returns whether predicate(graph) is true for a graph that a node calls.
template <class Predicate>
constexpr bool any_callee(const Node& node, Predicate&& predicate) {
  return (node.called_graph != GraphId::none && predicate(node.called_graph)) ||
         (node.else_graph != GraphId::none && predicate(node.else_graph));
}

/// Returns whether predicate(node) is true for a node of the graph, or of a graph that it calls, directly or through others.
template <class Predicate>
constexpr bool any_node(const Ir& ir, GraphId graph, Predicate&& predicate) {
  List<bool, GraphId> seen(ir.tables.graphs.size(), false);
  List<GraphId> open{graph};
  while (!open.empty()) {
    const GraphId next = open.back();
    open.pop_back();
    if (std::exchange(seen[next], true)) continue;
    for (const Node& node : ir.tables.record(next).nodes) {
      if (predicate(node)) return true;
      for_each_callee(node, [&open](GraphId called, int) { open.push_back(called); });
    }
  }
  return false;
}
/// Returns whether predicate(caller, node) is true for a call of the graph, or of a graph that calls it, directly or through
/// others.
template <class Predicate>
constexpr bool any_call(const Ir& ir, GraphId graph, Predicate&& predicate) {
  List<bool, GraphId> seen(ir.tables.graphs.size(), false);
  List<GraphId> open{graph};
  while (!open.empty()) {
    const GraphId next = open.back();
    open.pop_back();
    if (std::exchange(seen[next], true)) continue;
    for (const auto& [caller, node] : ir.tables.record(next).call_sites) {
      if (predicate(caller, node)) return true;
      open.push_back(caller);
    }
  }
  return false;
}

/// Returns whether a node calls the graph, directly or through others.
constexpr bool calls(const Ir& ir, const Node& node, GraphId graph) {
  const auto is_it = [graph](GraphId called) { return called == graph; };
  return any_callee(node, [&](GraphId called) {
    return is_it(called) || any_node(ir, called, [&](const Node& inner) { return any_callee(inner, is_it); });
  });
}
/// Returns whether a node has a side effect, itself or in graphs that it calls.
constexpr bool has_effect(const Ir& ir, const Node& node) {
  const auto has_own = [](const Node& each) { return each.op->has_side_effect; };
  return has_own(node) || any_callee(node, [&](GraphId called) { return any_node(ir, called, has_own); });
}

}  // namespace detail

}  // namespace tilewright
