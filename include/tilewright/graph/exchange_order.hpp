#pragma once
#include <algorithm>
#include <optional>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/call_site.hpp"

namespace tilewright::detail {

/// The order of the ops in a merge_exchange scope. Its exchanges are numbered 1, 2 and so on. Their number is the length of the
/// longest chain of dependent loads and stores, which is the minimum. Other ops come as early as possible.
class ExchangeOrder {
 public:
  constexpr ExchangeOrder(const Ir& ir, const MergedExchanges& scope)
      : ir_(ir), scope_(scope), record_(ir.tables.record(scope.graph)) {
    for (int n = static_cast<int>(scope.first); n < static_cast<int>(scope.end); ++n) ops_.push_back(examine(NodeId(n)));
    for (std::size_t b = 0; b < ops_.size(); ++b) {
      Op& later = ops_[b];
      if (later.transfer) later.level = 1;
      for (std::size_t a = 0; a < b; ++a) take_place_after(later, static_cast<int>(a));
      levels_ = (std::max)(levels_, later.level);
    }
  }
  /// Returns the number of exchanges in sequence, which is the minimum.
  constexpr int exchanges() const {
    int count = 0;
    for (const Op& op : ops_)
      if (op.transfer) count = (std::max)(count, op.level);
    return count;
  }
  /// Returns a load or store that cannot be in the first exchange, and one that must come before it.
  constexpr Pair<const Node*, const Node*> obstacle() const {
    for (const Op& op : ops_)
      if (op.transfer && op.level > 1) return {&node(op), &node(ops_[op.after])};
    return {nullptr, nullptr};
  }
  /// Calls f with the numbers of nodes that run together, in order.
  template <class F>
  constexpr void for_each(const F& f) const {
    List<NodeId> exchange;
    for (int level = 0; level <= levels_; ++level) {
      exchange.clear();
      for (const Op& op : ops_)
        if (op.transfer && op.level == level) exchange.push_back(op.number);
      if (!exchange.empty()) f(Span<const NodeId>(exchange));
      for (const Op& op : ops_)
        if (!op.transfer && op.level == level) f(Span<const NodeId>(&op.number, 1));
    }
  }

 private:
  struct Op {
    NodeId number{};
    std::optional<Transfer> transfer{};
    bool has_effect = false;
    List<TensorId> reads{}, writes{};  // tensors that are views or aliases of no others
    int level = 0;   // the exchange that it is part of, or the last one that it comes after; 0: none
    int after = -1;  // the op that says so
  };
  constexpr const Node& node(const Op& op) const { return record_.nodes[op.number]; }

  /// Examines a node. The planner decides in the order of the trace which views are copies, so ops that access memory that a view
  /// may share always keep that order.
  constexpr Op examine(NodeId number) const {
    const Node& node = record_.nodes[number];
    Op op{.number = number, .has_effect = has_effect(ir_, node)};
    if (node.op->transfer) op.transfer = node.op->transfer(node.attributes);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId tensor = viewed_tensor(record_, node.inputs[i]);
      const int input = static_cast<int>(i);
      op.reads.push_back(tensor);
      if (input == node.op->modifies || has_item(node.modified, input)) op.writes.push_back(tensor);
    }
    for (const TensorId output : node.outputs) op.writes.push_back(output);
    return op;
  }
  constexpr void take_place_after(Op& later, int a) const {
    const Op& earlier = ops_[a];
    const bool depends = depend(earlier, later) || is_in_sequence(earlier.number, later.number);
    if (!depends && !is_same_stream(earlier, later)) return;
    const int level = earlier.level + (depends && later.transfer ? 1 : 0);
    if (level <= later.level) return;
    later.level = level;
    later.after = earlier.transfer ? a : earlier.after;
  }
  constexpr bool is_in_sequence(NodeId before, NodeId after) const { return has_item(record_.sequence, Pair{before, after}); }
  static constexpr bool share(const List<TensorId>& some, const List<TensorId>& others) {
    for (const TensorId tensor : some)
      if (has_item(others, tensor)) return true;
    return false;
  }
  /// Returns whether both ops take the next elements of one stream. They may be in one exchange, but in order.
  static constexpr bool is_same_stream(const Op& a, const Op& b) {
    return a.transfer && b.transfer && a.transfer->kind == TransferKind::stream && b.transfer->kind == TransferKind::stream &&
           a.transfer->number == b.transfer->number;
  }
  /// Returns whether two ops cannot change places or run at the same time.
  constexpr bool depend(const Op& a, const Op& b) const {
    if (share(a.writes, b.reads) || share(a.writes, b.writes) || share(a.reads, b.writes)) return true;
    if (a.transfer && b.transfer) return touch_same_row(*a.transfer, *b.transfer);
    if (!a.transfer && !b.transfer) return a.has_effect && b.has_effect;
    const Op &moving = a.transfer ? a : b, &other = a.transfer ? b : a;
    if (moving.transfer->kind == TransferKind::code) return calls(ir_, node(other), GraphId(moving.transfer->number));
    return other.has_effect && node(other).called_graph != GraphId::none;
  }
  static constexpr bool touch_same_row(const Transfer& a, const Transfer& b) {
    const bool same_buffer = a.kind == TransferKind::remote && b.kind == TransferKind::remote && a.number == b.number;
    return same_buffer && (a.stores || b.stores) && (a.row < 0 || b.row < 0 || a.row == b.row);
  }

  const Ir& ir_;
  MergedExchanges scope_;
  const GraphRecord& record_;
  List<Op> ops_{};
  int levels_ = 0;
};

}  // namespace tilewright::detail
