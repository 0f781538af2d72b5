#pragma once
#include <exception>

#include "tilewright/graph/exchange_order.hpp"

namespace tilewright {

struct MergeOptions {
  Flag into_one = false;  ///< fails if one exchange cannot hold all loads and stores
  Flag transfers_only = false;  ///< fails for an op that is not a load, a store or a view
};

/// Scope that merges transfers. It collects loads and stores of the graph that was current at its creation: those of the host, of
/// remote buffers and of code. When the scope ends, transfers that do not depend on each other become one exchange. There are as
/// few exchanges as dependencies allow: a load of a value that another transfer stores, or the order of an in_sequence scope,
/// requires a second one. Dependencies between exchanges and other ops of the scope are kept.
///
/// All ops of the scope must have one execution context.
///
/// Results do not change. On a machine with streaming memory, an exchange synchronises once and transfers its rows in parallel.
class [[nodiscard]] MergeExchange {
 public:
  constexpr explicit MergeExchange(Ir& ir, const MergeOptions& options = {})
      : ir_(ir), options_(options), graph_(ir.tables.current_graph), first_(NodeId(ir.tables.current().nodes.size())) {
    if (!std::is_constant_evaluated()) exceptions_ = std::uncaught_exceptions();
  }
  constexpr ~MergeExchange() noexcept(false) {
    if (ir_.failed()) return;
    if (!std::is_constant_evaluated() && std::uncaught_exceptions() != exceptions_) return;
    const MergedExchanges scope{graph_, first_, NodeId(ir_.tables.record(graph_).nodes.size())};
    if (options_.transfers_only && !check_has_transfers_only(scope)) return;
    if (static_cast<int>(scope.end) - static_cast<int>(scope.first) < 2) return;
    if (ir_.tables.has_contexts && !check_is_in_one_context(scope)) return;
    if (options_.into_one) check_is_one(scope);
    erase_if(ir_.tables.merged_exchanges,
             [&](const MergedExchanges& inner) { return inner.graph == graph_ && inner.first >= first_; });
    ir_.tables.merged_exchanges.push_back(scope);
  }
  MergeExchange(const MergeExchange&) = delete;
  MergeExchange& operator=(const MergeExchange&) = delete;

 private:
  constexpr bool check_is_in_one_context(const MergedExchanges& scope) {
    const auto& nodes = ir_.tables.record(graph_).nodes;
    const Node& first = nodes[scope.first];
    for (int n = static_cast<int>(scope.first) + 1; n < static_cast<int>(scope.end); ++n)
      if (const Node& node = nodes[NodeId(n)]; node.context != first.context) {
        ir_.fail(text("merge_exchange: ", first.op->name, ".", first.id, " of ", to_text(first.context), " and ", node.op->name,
                      ".", node.id, " of ", to_text(node.context), ": ops of one execution context expected"));
        return false;
      }
    return true;
  }
  constexpr bool check_has_transfers_only(const MergedExchanges& scope) {
    const auto& nodes = ir_.tables.record(graph_).nodes;
    for (int n = static_cast<int>(scope.first); n < static_cast<int>(scope.end); ++n)
      if (const Node& node = nodes[NodeId(n)]; !node.op->transfer && !node.op->view && !node.op->gives_memory) {
        ir_.fail(text("merge_exchange: ", node.op->name, ".", node.id, ": a load or a store expected in a scope of these alone"));
        return false;
      }
    return true;
  }
  constexpr void check_is_one(const MergedExchanges& scope) {
    const detail::ExchangeOrder order(ir_, scope);
    const auto [late, early] = order.obstacle();
    if (late)
      ir_.fail(text("merge_exchange: ", late->op->name, ".", late->id, " has to come after ", early->op->name, ".", early->id,
                    ": loads and stores that one exchange can hold expected"));
  }

  Ir& ir_;
  MergeOptions options_;
  GraphId graph_;
  NodeId first_;
  int exceptions_ = 0;
};
constexpr MergeExchange merge_exchange(Ir& ir, const MergeOptions& options = {}) { return MergeExchange(ir, options); }

}  // namespace tilewright
