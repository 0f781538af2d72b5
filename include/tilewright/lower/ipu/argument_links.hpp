#pragma once
// takes: an Ir, and which graphs have bodies
// gives: BodyTiles::links of the bodies of gradient graphs
// keeps: all else
#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/lower/ipu/tile_map.hpp"

namespace tilewright::internal {

/// Records which arguments of a gradient graph's body are tensors of its forward graph, or their gradients. If the forward body
/// is planned first, its weights and activations get equal layouts in both, so that calls copy them within tiles.
constexpr void link_gradients(const Ir& ir, const List<BodyId, GraphId>& body_of, TileHomes& homes) {
  for (std::size_t i = 0; i < body_of.size(); ++i) {
    const GraphRecord& forward = ir.tables.record(GraphId(i));
    const GradientRecord& gradient = forward.gradient;
    if (body_of[GraphId(i)] == BodyId::none || gradient.graph == GraphId::none || body_of[gradient.graph] == BodyId::none)
      continue;
    List<int, TensorId> argument(forward.tensors.size(), -1);
    for (std::size_t o = 0; o < forward.outputs.size(); ++o)
      argument[forward.outputs[o]] = static_cast<int>(forward.inputs.size() + o);
    for (std::size_t n = 0; n < forward.inputs.size(); ++n) argument[forward.inputs[n]] = static_cast<int>(n);
    List<ArgumentLink>& links = homes.bodies[body_of[gradient.graph]].links;
    for (const auto& [connection, tensor] : gradient.inputs)
      links.push_back({body_of[GraphId(i)], connection == ExpectedConnectionType::Fwd ? argument[tensor] : -1});
    for (const TensorId tensor : gradient.outputs) links.push_back({body_of[GraphId(i)], argument[tensor]});
  }
}

}  // namespace tilewright::internal
