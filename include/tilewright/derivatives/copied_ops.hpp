#pragma once
#include "tilewright/core/list.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/transform/calls/called_gradients.hpp"

namespace tilewright::detail {

/// Copies ops of a graph into the current graph: those that the tensors need which are asked for.
class CopiedOps {
 public:
  constexpr CopiedOps(Ir& ir, GraphId graph) : ir_(ir), graph_(graph), values_(ir.tables.record(graph).tensors.size()) {}

  /// Gives an input a value of the current graph.
  constexpr void set(TensorId input, Tensor value) { values_[input] = value; }
  /// Returns the value of a tensor in the current graph. Inputs without a value are zeros.
  constexpr Tensor value(TensorId tensor) {
    if (values_[tensor].valid()) return values_[tensor];
    const TensorRecord known = ir_.tables.record(graph_).tensors[tensor];
    if (known.kind == TensorKind::constant) return values_[tensor] = copy_constant(ir_, known);
    if (known.producer == NodeId::none) return values_[tensor] = zeros_like(ir_, known.spec);
    const Node node = ir_.tables.record(graph_).nodes[known.producer];
    const auto value_of = [this](TensorId input) { return value(input); };
    append_copy(ir_, graph_, node, values_, value_of);
    return values_[tensor];
  }

 private:
  Ir& ir_;
  GraphId graph_;
  List<Tensor, TensorId> values_;  // by tensor of the graph; invalid: not copied
};

}  // namespace tilewright::detail
