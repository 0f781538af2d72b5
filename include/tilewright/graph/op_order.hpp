#pragma once

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/exchange_order.hpp"

namespace tilewright::detail {

inline constexpr OpTag multi_exchange_tag{};
/// The op that stands for the loads and stores of one exchange. Graphs keep the single ops; printing and planning use this one.
inline constexpr OpInfo multi_exchange_info = [] {
  OpInfo info;
  info.tag = &multi_exchange_tag;
  info.name = "MultiExchange";
  info.differentiation = Differentiation::stops;
  info.has_side_effect = true;
  info.work_kind = WorkKind::transfer;
  return info;
}();

/// Calls f with the numbers of the nodes of a graph, in the order of execution: nodes of one exchange together, all others alone.
template <class F>
constexpr void for_each_op(const Ir& ir, GraphId graph, const F& f) {
  const auto count = NodeId(ir.tables.record(graph).nodes.size());
  NodeId next{};
  const auto go_on = [&](NodeId end) {
    for (; next < end; next = NodeId(static_cast<int>(next) + 1)) f(Span<const NodeId>(&next, 1));
  };
  for (const MergedExchanges& scope : ir.tables.merged_exchanges) {
    if (scope.graph != graph) continue;
    go_on(scope.first);
    ExchangeOrder(ir, scope).for_each(f);
    next = scope.end;
  }
  go_on(count);
}

/// Merges several nodes of a graph to one with the number of the first, and all inputs and outputs.
constexpr Node as_multi_exchange(const GraphRecord& graph, Span<const NodeId> nodes) {
  const Node& first = graph.nodes[nodes[0]];
  Node result{.op = &multi_exchange_info, .id = first.id, .scope = first.scope};
  for (const NodeId number : nodes) {
    const Node& node = graph.nodes[number];
    if (node.op->modifies >= 0) result.modified.push_back(static_cast<int>(result.inputs.size()) + node.op->modifies);
    for (const TensorId input : node.inputs) result.inputs.push_back(input);
    for (const TensorId output : node.outputs) result.outputs.push_back(output);
  }
  return result;
}

}  // namespace tilewright::detail
