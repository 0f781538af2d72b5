#pragma once
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright::detail {

/// Finds the producers of a graph's tensors, and counts their readers.
class FormReader {
 public:
  /// `kept`: tensors of the graph that have other users.
  constexpr FormReader(const Ir& ir, GraphId graph, const List<TensorId>& kept) : ir_(ir), record_(ir.tables.record(graph)) {
    uses_.assign(record_.tensors.size(), 0);
    for (const Node& node : record_.nodes)
      for (const TensorId input : node.inputs) ++uses_[input];
    for (const auto* tensors : {&record_.outputs, &kept})
      for (const TensorId tensor : *tensors) ++uses_[tensor];
  }
  constexpr const TensorSpec& spec(TensorId tensor) const { return record_.tensors[tensor].spec; }
  /// Returns the node that produces a tensor, or null.
  constexpr const Node* producer(TensorId tensor) const {
    const NodeId node = record_.tensors[tensor].producer;
    return node == NodeId::none ? nullptr : &record_.nodes[node];
  }
  /// Returns the producer of a tensor that has exactly one reader and no name; otherwise null.
  constexpr const Node* inner(TensorId tensor) const {
    return uses_[tensor] == 1 && record_.tensors[tensor].name.empty() ? producer(tensor) : nullptr;
  }
  /// Returns the number of a constant with one value for all elements.
  constexpr std::optional<double> number(TensorId tensor) const {
    const ConstantRecord* record = constant(tensor);
    if (!record || record->generator.write || record->values.size() != 1) return std::nullopt;
    return record->values[0];
  }
  /// Returns the record of a constant, or null for another tensor.
  constexpr const ConstantRecord* constant(TensorId tensor) const {
    const TensorRecord& record = record_.tensors[tensor];
    return record.kind == TensorKind::constant ? &ir_.tables.constants[static_cast<std::size_t>(record.payload)] : nullptr;
  }
  /// Returns whether no node from the producer of a tensor to before `last` changes anything in place.
  constexpr bool keeps_all(TensorId from, const Node& last) const {
    const NodeId first = record_.tensors[from].producer;
    for (auto i = static_cast<std::size_t>(first); i < record_.nodes.size() && &record_.nodes[NodeId(i)] != &last; ++i) {
      const Node& node = record_.nodes[NodeId(i)];
      if (node.op->modifies >= 0 || !node.modified.empty()) return false;
    }
    return true;
  }

 private:
  const Ir& ir_;
  const GraphRecord& record_;
  List<int, TensorId> uses_{};
};

}  // namespace tilewright::detail
