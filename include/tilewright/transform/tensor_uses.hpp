#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"

namespace tilewright::detail {

/// An input of a node that is a tensor or a view of it.
struct TensorAccess {
  NodeId node{};
  int input = 0;         ///< of the node
  bool writes = false;   ///< whether the node changes the tensor
  int next = -1;         ///< of the same tensor; -1: none
};

/// Uses of a graph's tensors by its nodes. Nodes may leave the graph meanwhile; their numbers do not change.
class TensorUses {
 public:
  constexpr explicit TensorUses(const GraphRecord& record) : record_(&record) {
    const std::size_t count = record.tensors.size();
    uses_.assign(count, 0);
    readers_.assign(count, NodeId::none);
    uses_by_reader_.assign(count, 0);
    first_.assign(count, -1);
    has_left_.assign(record.nodes.size(), false);
    whole_.resize(count);
    for (std::size_t t = 0; t < count; ++t) whole_[TensorId(t)] = TensorId(t);
    for (std::size_t n = 0; n < record.nodes.size(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto input = static_cast<int>(i);
        add(NodeId(n), input, node.op->modifies == input || has_item(node.modified, input));
      }
      for (const TensorId output : node.outputs) {
        const TensorId viewed = node.op->view ? node.inputs[0] : aliased_input(node, output);
        if (viewed != TensorId::none) whole_[output] = whole_[viewed];
      }
    }
    for (const TensorId output : record.outputs) ++uses_[output];
  }

  /// Returns how often nodes and the graph's results use the tensor.
  constexpr int count(TensorId tensor) const { return uses_[tensor]; }
  /// Returns the node that uses the tensor, once or more often. Returns none if several nodes use the tensor, if it is a result,
  /// or if nothing uses it.
  constexpr NodeId only_reader(TensorId tensor) const {
    const NodeId reader = readers_[tensor];
    if (reader == NodeId::none || has_left_[reader]) return NodeId::none;
    return uses_by_reader_[tensor] == uses_[tensor] ? reader : NodeId::none;
  }
  /// Returns the tensor whose memory this one shares as a view; itself if it is not a view.
  constexpr TensorId whole(TensorId tensor) const { return whole_[tensor]; }
  /// Returns whether a node after `first` and before `end` changes the tensor or the tensor that it views; with `or_reads`, also
  /// whether one reads it.
  constexpr bool is_used_between(NodeId first, NodeId end, TensorId tensor, bool or_reads) const {
    for (int a = first_[whole_[tensor]]; a >= 0; a = accesses_[a].next) {
      const TensorAccess& access = accesses_[a];
      if (first < access.node && access.node < end && !has_left_[access.node] && (access.writes || or_reads)) return true;
    }
    return false;
  }
  /// Calls f(access) for each access of a node to the tensor, or to the tensor that it views.
  constexpr void for_each_access(NodeId node, TensorId tensor, const auto& f) {
    for (int a = first_[whole_[tensor]]; a >= 0; a = accesses_[a].next)
      if (accesses_[a].node == node) f(accesses_[a]);
  }

  /// Records a new input of a node.
  constexpr void add(NodeId node, int input, bool writes) {
    const TensorId tensor = record_->nodes[node].inputs[input];
    ++uses_[tensor];
    if (readers_[tensor] != node) uses_by_reader_[tensor] = 0;
    readers_[tensor] = node;
    ++uses_by_reader_[tensor];
    int& first = first_[whole_[tensor]];
    accesses_.push_back({node, input, writes, std::exchange(first, static_cast<int>(accesses_.size()))});
  }
  /// Records that a node leaves the graph.
  constexpr void leave(NodeId node) {
    has_left_[node] = true;
    any_left_ = true;
    for (const TensorId input : record_->nodes[node].inputs) --uses_[input];
  }
  constexpr bool has_left(NodeId node) const { return has_left_[node]; }
  constexpr bool any_left() const { return any_left_; }

 private:
  const GraphRecord* record_;
  List<int, TensorId> uses_{};
  List<NodeId, TensorId> readers_{};  // the last node that reads the tensor; none: no node does
  List<int, TensorId> uses_by_reader_{};  // how often that node has it
  List<TensorId, TensorId> whole_{};
  List<int, TensorId> first_{};  // by tensor that is no view: its last access, in accesses_; -1: none
  List<TensorAccess> accesses_{};
  List<bool, NodeId> has_left_{};
  bool any_left_ = false;
};

/// Removes the nodes that have left a graph. Their results have no producer afterwards, unless another node has taken them over.
constexpr void remove_left_nodes(GraphRecord& record, const TensorUses& uses) {
  List<Node, NodeId> nodes = std::exchange(record.nodes, {});
  record.nodes.reserve(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (uses.has_left(NodeId(n)))
      for (const TensorId output : nodes[NodeId(n)].outputs)
        if (record.tensors[output].producer == NodeId(n)) record.tensors[output].producer = NodeId::none;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (uses.has_left(NodeId(n))) continue;
    const auto number = NodeId(record.nodes.size());
    for (const TensorId output : nodes[NodeId(n)].outputs) record.tensors[output].producer = number;
    record.nodes.push_back(std::move(nodes[NodeId(n)]));
  }
}

}  // namespace tilewright::detail
