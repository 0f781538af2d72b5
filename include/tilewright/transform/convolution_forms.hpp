#pragma once
#include <array>

#include "tilewright/graph/ir.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// Sets whether convolutions of the program, and their gradients, may have Winograd's form on the host, where it is faster: its
/// rounding errors are larger than those of direct sums (docs/numerics.md). The default is true. Simulated IPUs always add
/// directly, in strict mode and without.
constexpr void uses_winograd(Ir& ir, bool uses) { ir.tables.rewrites.uses_winograd = uses; }

/// Gives convolutions and their gradients the form of sums that is faster on the target, a host, unless uses_winograd(ir, false)
/// was called.
constexpr void choose_convolution_forms(Ir& ir, const Target& target) {
  if (!ir.tables.rewrites.uses_winograd) return;
  for (GraphRecord& graph : ir.tables.graphs)
    for (Node& node : graph.nodes) {
      if (!node.op->with_host_form) continue;
      const std::array<TensorSpec, 3> operands{graph.tensors[node.inputs[0]].spec, graph.tensors[node.inputs[1]].spec,
                                               graph.tensors[node.outputs[0]].spec};
      node.attributes = node.op->with_host_form(node.attributes, operands, target.tiles);
    }
}

}  // namespace tilewright
