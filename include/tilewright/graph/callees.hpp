#pragma once
#include <cstdint>

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

/// Returns whether a node calls the graph, directly or through others.
constexpr bool calls(const Ir& ir, const Node& node, GraphId graph) {
  return any_callee(node, [&](GraphId called) {
    if (called == graph) return true;
    for (const Node& inner : ir.tables.record(called).nodes)
      if (calls(ir, inner, graph)) return true;
    return false;
  });
}
/// Returns whether a node has a side effect, itself or in graphs that it calls.
constexpr bool has_effect(const Ir& ir, const Node& node) {
  if (node.op->has_side_effect) return true;
  return any_callee(node, [&](GraphId called) {
    for (const Node& inner : ir.tables.record(called).nodes)
      if (has_effect(ir, inner)) return true;
    return false;
  });
}

}  // namespace detail

}  // namespace tilewright
