#pragma once
#include "tilewright/graph/records.hpp"

namespace tilewright::detail {

/// The most ops of a graph that is inlined at each of its calls: the plan, and the time to compile, grow by calls x ops. No
/// line of ./dev bench changes with it, from 4 to 400: updates of the library's optimisers are a few ops.
inline constexpr std::size_t max_update_ops = 32;

/// Whether a graph has a few ops, each of which is elementwise, a view, stands for such ops, or is of scalars: as the update of a
/// variable by an optimiser.
constexpr bool is_elementwise(const GraphRecord& record) {
  if (record.nodes.size() > max_update_ops) return false;
  const auto is_of_scalars = [&](const Node& node) {
    for (const TensorId input : node.inputs)
      if (record.tensors[input].spec.nelms() != 1) return false;
    return true;
  };
  for (const Node& node : record.nodes)
    if (node.called_graph != GraphId::none || !(node.op->elementwise || node.op->view || node.op->expand || is_of_scalars(node)))
      return false;
  return true;
}

}  // namespace tilewright::detail
