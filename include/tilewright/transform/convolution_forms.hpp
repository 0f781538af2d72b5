#pragma once
#include <array>

#include "tilewright/graph/ir.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// Sets whether convolutions of the program, and their gradients, may have Winograd's form on the host, where it is faster: its
/// rounding errors are larger than those of direct sums (docs/reference/numerics.md). The default is true. Simulated IPUs always
/// add directly, in strict mode and without.
constexpr void uses_winograd(Ir& ir, bool uses) { ir.tables.rewrites.transforms_convolutions = uses; }

namespace detail {
/// Divides sums over the images of the results' gradient, such as a bias's gradient, like the weights' gradient: a vertex then
/// finds its images in a cache.
constexpr void divide_sums_alike(GraphRecord& graph, const Node& weights_gradient) {
  const auto images = unpack<WindowsAttributes>(weights_gradient.attributes).planner.images_of_part;
  if (images == 0) return;
  const TensorId dy = weights_gradient.inputs[1];
  for (Node& node : graph.nodes) {
    if (node.op != &op_info<ReduceSum> || node.inputs[0] != dy) continue;
    auto attributes = unpack<ReductionAttributes>(node.attributes);
    if ((ReduceSum::axis_bits(attributes, graph.tensors[dy].spec.shape.rank) & 1) == 0) continue;
    attributes.extent_of_part = images;
    node.attributes = pack(attributes);
  }
}
}  // namespace detail

/// Gives convolutions and their gradients the form of sums that is faster on the target, a host. It is not Winograd's if
/// uses_winograd(ir, false) was called.
constexpr void choose_convolution_forms(Ir& ir, const Target& target) {
  const HostForms forms{.tiles = target.tiles, .winograd = ir.tables.rewrites.transforms_convolutions};
  for (GraphRecord& graph : ir.tables.graphs)
    for (Node& node : graph.nodes) {
      if (node.op->work_kind != WorkKind::convolution) continue;
      const auto with_host_form = host_rules_of(*node.op).with_host_form;
      if (!with_host_form) continue;
      const std::array<TensorSpec, 3> operands{graph.tensors[node.inputs[0]].spec, graph.tensors[node.inputs[1]].spec,
                                               graph.tensors[node.outputs[0]].spec};
      node.attributes = with_host_form(node.attributes, operands, forms);
      if (node.op == &op_info<ConvWeightsGrad>) detail::divide_sums_alike(graph, node);
    }
}

}  // namespace tilewright
