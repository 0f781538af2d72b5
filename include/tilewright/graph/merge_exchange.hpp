#pragma once
#include <algorithm>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"

namespace tilewright {

namespace detail {
inline constexpr OpTag multi_exchange_tag{};
/// Loads and stores that are one exchange. Graphs keep the single ops; they are shown, and planned, as this one.
inline constexpr OpInfo multi_exchange_info{
    .tag = &multi_exchange_tag, .name = "MultiExchange", .differentiation = Differentiation::stops, .has_side_effect = true};

/// Whether a node calls the graph, directly or through others.
constexpr bool calls(const Ir& ir, const Node& node, int graph) {
  for (const int called : {node.called_graph, node.else_graph}) {
    if (called < 0) continue;
    if (called == graph) return true;
    for (const Node& inner : ir.record(called).nodes)
      if (calls(ir, inner, graph)) return true;
  }
  return false;
}
/// Whether a node does more than to compute its results, itself or in graphs that it calls.
constexpr bool has_effect(const Ir& ir, const Node& node) {
  if (node.op->has_side_effect) return true;
  for (const int called : {node.called_graph, node.else_graph})
    if (called >= 0)
      for (const Node& inner : ir.record(called).nodes)
        if (has_effect(ir, inner)) return true;
  return false;
}

/// The order of the ops in a merge_exchange scope. Its exchanges are 1, 2 and so on: as few as possible, which is the length of
/// the longest chain of loads and stores of which each depends on the one before it. Other ops come as early as they can.
class ExchangeOrder {
 public:
  constexpr ExchangeOrder(const Ir& ir, const MergedExchanges& scope) : ir_(ir), scope_(scope), record_(ir.record(scope.graph)) {
    for (int n = scope.first; n < scope.end; ++n) ops_.push_back(examine(n));
    for (std::size_t b = 0; b < ops_.size(); ++b) {
      Op& later = ops_[b];
      if (later.transfer) later.level = 1;
      for (std::size_t a = 0; a < b; ++a) take_place_after(later, static_cast<int>(a), static_cast<int>(b));
      levels_ = std::max(levels_, later.level);
    }
  }
  /// How many exchanges follow each other, at least.
  constexpr int exchanges() const {
    int count = 0;
    for (const Op& op : ops_)
      if (op.transfer) count = std::max(count, op.level);
    return count;
  }
  /// A load or store that cannot be in the first exchange, and one before which it cannot be.
  constexpr std::pair<const Node*, const Node*> obstacle() const {
    for (const Op& op : ops_)
      if (op.transfer && op.level > 1) return {&node(op), &node(ops_[static_cast<std::size_t>(op.after)])};
    return {nullptr, nullptr};
  }
  /// Calls f with the numbers of nodes that run together, in order.
  template <class F>
  constexpr void for_each(const F& f) const {
    List<int> exchange;
    for (int level = 0; level <= levels_; ++level) {
      exchange.clear();
      for (const Op& op : ops_)
        if (op.transfer && op.level == level) exchange.push_back(op.number);
      if (!exchange.empty()) f(std::span<const int>(exchange));
      for (const Op& op : ops_)
        if (!op.transfer && op.level == level) f(std::span<const int>(&op.number, 1));
    }
  }

 private:
  struct Op {
    int number = 0;
    std::optional<Transfer> transfer{};
    bool has_effect = false;
    List<int> reads{}, writes{};  // tensors that are views or aliases of no others
    int level = 0;   // the exchange that it is part of, or the last one that it comes after; 0: none
    int after = -1;  // the op that says so
  };
  constexpr const Node& node(const Op& op) const { return record_.nodes[static_cast<std::size_t>(op.number)]; }

  /// The planner decides in the order of the trace which views are copies. So what reads or writes memory that a view may share
  /// keeps that order in any case.
  constexpr Op examine(int number) const {
    const Node& node = record_.nodes[static_cast<std::size_t>(number)];
    Op op{.number = number, .has_effect = has_effect(ir_, node)};
    if (node.op->transfer) op.transfer = node.op->transfer(node.attributes);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int tensor = viewed_tensor(record_, node.inputs[i]), input = static_cast<int>(i);
      op.reads.push_back(tensor);
      if (input == node.op->modifies || std::ranges::find(node.modified, input) != node.modified.end())
        op.writes.push_back(tensor);
    }
    for (int output : node.outputs) op.writes.push_back(output);
    return op;
  }
  constexpr void take_place_after(Op& later, int a, int b) const {
    const Op& earlier = ops_[static_cast<std::size_t>(a)];
    const bool depends = depend(earlier, later) || is_in_sequence(scope_.first + a, scope_.first + b);
    if (!depends && !is_same_stream(earlier, later)) return;
    const int level = earlier.level + (depends && later.transfer ? 1 : 0);
    if (level <= later.level) return;
    later.level = level;
    later.after = earlier.transfer ? a : earlier.after;
  }
  constexpr bool is_in_sequence(int before, int after) const {
    return std::ranges::find(record_.sequence, std::pair{before, after}) != record_.sequence.end();
  }
  static constexpr bool share(const List<int>& some, const List<int>& others) {
    for (int tensor : some)
      if (std::ranges::find(others, tensor) != others.end()) return true;
    return false;
  }
  /// Both take the next elements of one stream: in one exchange, too, but in order.
  static constexpr bool is_same_stream(const Op& a, const Op& b) {
    return a.transfer && b.transfer && a.transfer->kind == TransferKind::stream && b.transfer->kind == TransferKind::stream &&
           a.transfer->number == b.transfer->number;
  }
  /// Whether two ops cannot change places, or be at the same time.
  constexpr bool depend(const Op& a, const Op& b) const {
    if (share(a.writes, b.reads) || share(a.writes, b.writes) || share(a.reads, b.writes)) return true;
    if (a.transfer && b.transfer) return touch_same_row(*a.transfer, *b.transfer);
    if (!a.transfer && !b.transfer) return a.has_effect && b.has_effect;
    const Op &moving = a.transfer ? a : b, &other = a.transfer ? b : a;
    if (moving.transfer->kind == TransferKind::code) return calls(ir_, node(other), static_cast<int>(moving.transfer->number));
    return other.has_effect && node(other).called_graph >= 0;
  }
  static constexpr bool touch_same_row(const Transfer& a, const Transfer& b) {
    const bool writes = a.kind == TransferKind::remote_store || b.kind == TransferKind::remote_store;
    const bool are_remote = is_remote(a) && is_remote(b) && a.number == b.number;
    return are_remote && writes && (a.row < 0 || b.row < 0 || a.row == b.row);
  }
  static constexpr bool is_remote(const Transfer& transfer) {
    return transfer.kind == TransferKind::remote_load || transfer.kind == TransferKind::remote_store;
  }

  const Ir& ir_;
  MergedExchanges scope_;
  const GraphRecord& record_;
  List<Op> ops_{};
  int levels_ = 0;
};

/// Calls f with the numbers of the nodes of a graph, in the order in which they run: each alone, but for those that are one
/// exchange.
template <class F>
constexpr void for_each_op(const Ir& ir, int graph, const F& f) {
  const auto count = static_cast<int>(ir.record(graph).nodes.size());
  int next = 0;
  const auto go_on = [&](int end) {
    for (; next < end; ++next) f(std::span<const int>(&next, 1));
  };
  for (const MergedExchanges& scope : ir.merged_exchanges) {
    if (scope.graph != graph) continue;
    go_on(scope.first);
    ExchangeOrder(ir, scope).for_each(f);
    next = scope.end;
  }
  go_on(count);
}

/// Several nodes of a graph as one: with the number of the first, and all inputs and outputs.
constexpr Node as_multi_exchange(const GraphRecord& graph, std::span<const int> nodes) {
  const Node& first = graph.nodes[static_cast<std::size_t>(nodes[0])];
  Node result{.op = &multi_exchange_info, .id = first.id, .scope = first.scope};
  for (int number : nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(number)];
    if (node.op->modifies >= 0) result.modified.push_back(static_cast<int>(result.inputs.size()) + node.op->modifies);
    for (int input : node.inputs) result.inputs.push_back(input);
    for (int output : node.outputs) result.outputs.push_back(output);
  }
  return result;
}
}  // namespace detail

struct MergeOptions {
  bool into_one = false;  ///< fails if one exchange cannot hold all loads and stores
};

/// While it lives, loads and stores of the graph that was current at its creation, by the host, of remote buffers and of code,
/// are collected; when it ends, those that do not depend on each other become one exchange. Exchanges are as few as their
/// dependencies allow: a load of what another one stores, or the order that an in_sequence scope gives, makes a second one of
/// them. What other ops of the scope need of the exchanges, and these of them, is kept.
///
/// No result changes. On a machine with streaming memory an exchange synchronises once, and its rows go side by side.
class [[nodiscard]] MergeExchange {
 public:
  constexpr explicit MergeExchange(Ir& ir, const MergeOptions& options = {})
      : ir_(ir), options_(options), graph_(ir.current_graph), first_(static_cast<int>(ir.current().nodes.size())) {
    if (!std::is_constant_evaluated()) exceptions_ = std::uncaught_exceptions();
  }
  constexpr ~MergeExchange() noexcept(false) {
    if (ir_.failed()) return;
    if (!std::is_constant_evaluated() && std::uncaught_exceptions() != exceptions_) return;
    const MergedExchanges scope{graph_, first_, static_cast<int>(ir_.record(graph_).nodes.size())};
    if (scope.end - scope.first < 2) return;
    if (options_.into_one) check_is_one(scope);
    erase_if(ir_.merged_exchanges, [&](const MergedExchanges& inner) { return inner.graph == graph_ && inner.first >= first_; });
    ir_.merged_exchanges.push_back(scope);
  }
  MergeExchange(const MergeExchange&) = delete;
  MergeExchange& operator=(const MergeExchange&) = delete;

 private:
  constexpr void check_is_one(const MergedExchanges& scope) {
    const detail::ExchangeOrder order(ir_, scope);
    const auto [late, early] = order.obstacle();
    if (late)
      ir_.fail(text("merge_exchange: ", late->op->name, ".", late->id, " has to come after ", early->op->name, ".", early->id,
                    ": loads and stores that one exchange can hold expected"));
  }

  Ir& ir_;
  MergeOptions options_;
  int graph_, first_;
  int exceptions_ = 0;
};
constexpr MergeExchange merge_exchange(Ir& ir, const MergeOptions& options = {}) { return MergeExchange(ir, options); }

}  // namespace tilewright
