#pragma once
#include "tilewright/graph/records.hpp"

namespace tilewright::detail {

/// Largest number of ops in a graph that is inlined at each of its calls. The plan, and the compile time, grow by calls x ops.
/// Values from 4 to 400 change no line of ./dev bench, because updates of the library's optimisers are a few ops.
inline constexpr std::size_t max_update_ops = 32;

/// Returns whether a graph has a few ops, each of which is elementwise, a view, expands to such ops, or works on scalars, as in
/// an optimiser's update of a variable.
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
