#pragma once
// for: simulated IPUs
#include "tilewright/lower/dead_code.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {
/// The first tensor of bfloat16 among those that a node uses or makes, or none.
constexpr TensorId tensor_of_bfloat16(const GraphRecord& record, const Node& node) {
  for (const auto* tensors : {&node.inputs, &node.outputs})
    for (const TensorId tensor : *tensors)
      if (record.tensors[tensor].spec.dtype == bfloat16) return tensor;
  return TensorId::none;
}
}  // namespace detail

/// Fails for an op with a tensor of bfloat16 on a simulated IPU: the machine has no such numbers.
constexpr void check_dtypes(const Ir& ir, const LiveCode& live, Plan& plan) {
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.record(graph);
    for (std::size_t n = 0; n < record.nodes.size(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      const TensorId tensor = live.nodes[graph][NodeId(n)] ? detail::tensor_of_bfloat16(record, node) : TensorId::none;
      if (tensor == TensorId::none) continue;
      plan.fail(text(node.op->name, ".", node.id, record.name.empty() ? "" : " in ", record.name, ": ",
                     to_text(record.tensors[tensor].spec), " on an IPU, which has no bfloat16: float16 or float32 expected"));
      return;
    }
  }
}

}  // namespace tilewright::internal
