#pragma once
#include "tilewright/lower/dead_code.hpp"

namespace tilewright::internal {

/// Fails for an op with a tensor of bfloat16 on a simulated IPU: the machine has no such numbers.
constexpr void check_dtypes(Ir& ir, const LiveCode& live) {
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.record(graph);
    for (std::size_t n = 0; n < record.nodes.size() && !ir.failed(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      if (!live.nodes[graph][NodeId(n)]) continue;
      for (const auto* tensors : {&node.inputs, &node.outputs})
        for (const TensorId tensor : *tensors) {
          const TensorSpec& spec = record.tensors[tensor].spec;
          if (spec.dtype != bfloat16 || ir.failed()) continue;
          ir.fail(text(node.op->name, ".", node.id, record.name.empty() ? "" : " in ", record.name, ": ", to_text(spec),
                       " on an IPU, which has no bfloat16: float16 or float32 expected"));
        }
    }
  }
}

}  // namespace tilewright::internal
