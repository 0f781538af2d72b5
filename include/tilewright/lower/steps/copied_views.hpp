#pragma once
#include <limits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/lower/namespace.hpp"

namespace tilewright::internal {

namespace detail {

/// Finds the views of a graph that must be copies. A tensor and its aliases are one value. A view is another value, with the
/// elements of the tensor at its creation. Both share memory unless one changes while the other will still be read.
class CopiedViewFinder {
 public:
  constexpr CopiedViewFinder(const GraphRecord& record, bool has_contexts) : record_(record), has_contexts_(has_contexts) {}

  /// Returns which nodes are such views; empty if there are none.
  constexpr List<bool, NodeId> run() {
    if (!has_changes()) return {};
    find_values();
    for (std::size_t n = 0; n < record_.nodes.size(); ++n) {
      const Node& node = record_.nodes[NodeId(n)];
      if (!node.op->view || node.op->is_alias) continue;
      const int made = value_of_[node.outputs[0]], viewed = value_of_[node.inputs[0]];
      if (values_[made].needs_dense || conflicts_with_sharers(made, viewed)) {
        copied_.resize(record_.nodes.size(), false);
        copied_[NodeId(n)] = true;
      } else {
        share(made, viewed);
      }
    }
    return std::move(copied_);
  }

 private:
  // before all nodes, and after all: where a caller, or another root, may read
  static constexpr auto never = NodeId::none, always = NodeId((std::numeric_limits<int>::max)());

  /// A tensor with its aliases.
  struct Value {
    NodeId made = never;  ///< node that creates it; never: it exists before all nodes
    NodeId last_read = never;  ///< last node that reads it; never: none does; always: it may be read after all nodes
    List<NodeId> changes{};  ///< nodes that change it in place
    bool needs_dense = false;  ///< whether an alias of it needs dense elements, for example one of another shape
    int next = -1;  ///< next value in the ring of those that share memory; itself: no other does
  };

  constexpr bool has_changes() const {
    for (const Node& node : record_.nodes)
      if (node.op->modifies >= 0 || !node.modified.empty()) return true;
    return false;
  }
  constexpr void find_values() {
    value_of_.assign(record_.tensors.size(), -1);
    for (std::size_t i = 0; i < record_.tensors.size(); ++i) {
      const auto t = TensorId(i);
      const TensorRecord& tensor = record_.tensors[t];
      const bool made_here = tensor.producer != NodeId::none;
      if (made_here)
        if (const TensorId input = aliased_input(record_.nodes[tensor.producer], t); input != TensorId::none) {
          value_of_[t] = value_of_[input];
          continue;
        }
      value_of_[t] = static_cast<int>(values_.size());
      values_.push_back({.made = tensor.producer, .last_read = made_here ? never : always});
      values_.back().next = value_of_[t];
    }
    for (const TensorId output : record_.outputs) values_[value_of_[output]].last_read = always;
    for (std::size_t i = 0; i < record_.nodes.size(); ++i) {
      const auto n = NodeId(i);
      const Node& node = record_.nodes[n];
      for (const TensorId input : node.inputs) {
        Value& value = values_[value_of_[input]];
        if (value.last_read < n) value.last_read = n;
        if (has_contexts_ && value.made != never && record_.nodes[value.made].context != node.context) value.last_read = always;
      }
      if (node.op->modifies >= 0) note_change(node.inputs[node.op->modifies], n);
      for (int input : node.modified) note_change(node.inputs[input], n);
      if (node.op->is_alias && !node.op->any_layout) values_[value_of_[node.inputs[0]]].needs_dense = true;
    }
  }
  constexpr void note_change(TensorId tensor, NodeId node) { values_[value_of_[tensor]].changes.push_back(node); }
  /// Returns whether `changed` changes between the creation and the last read of `other`, or in an op that changes both.
  static constexpr bool conflict(const Value& changed, const Value& other) {
    for (const NodeId change : changed.changes) {
      if (change > other.made && change < other.last_read) return true;
      for (const NodeId also : other.changes)
        if (also == change) return true;
    }
    return false;
  }
  constexpr bool conflicts_with_sharers(int made, int viewed) const {
    const Value& own = values_[made];
    int sharer = viewed;
    do {
      const Value& other = values_[sharer];
      if (conflict(own, other) || conflict(other, own)) return true;
      sharer = other.next;
    } while (sharer != viewed);
    return false;
  }
  constexpr void share(int made, int viewed) { std::swap(values_[made].next, values_[viewed].next); }

  const GraphRecord& record_;
  bool has_contexts_;  // there are other roots, which may read what one made after it has ended
  List<int, TensorId> value_of_{};  // by tensor: the number of its value
  List<Value> values_{};
  List<bool, NodeId> copied_{};
};

}  // namespace detail

/// Returns, by node of a graph, whether it is a view whose elements must be copied; empty if no view is.
constexpr List<bool, NodeId> find_copied_views(const GraphRecord& record, bool has_contexts = false) {
  return detail::CopiedViewFinder(record, has_contexts).run();
}

}  // namespace tilewright::internal
