#pragma once
#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// Gives a partials_type to all products, convolutions and attention of float16, and to their gradients, that have none of their
/// own. Operands of other dtypes keep sums of float32: the units of IPUs have no others.
constexpr void set_partials_types(Ir& ir, DType partials_type) {
  for (GraphRecord& graph : ir.tables.graphs)
    for (Node& node : graph.nodes)
      if (node.op->with_partials_type && graph.tensors[node.inputs[0]].spec.dtype == float16)
        node.attributes = node.op->with_partials_type(node.attributes, partials_type);
}

}  // namespace tilewright
