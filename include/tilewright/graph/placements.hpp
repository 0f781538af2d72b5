#pragma once
#include <algorithm>
#include <optional>

#include "tilewright/core/span.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

namespace detail {

/// Places a tensor that no op has used yet.
constexpr void place(TensorRecord& tensor, const Placement& placement) {
  if (!tensor.placement.is_known()) tensor.placement = placement;
}

/// Starts to record placements of nodes and tensors. Existing ones are on IPU 0.
constexpr void track_placements(Ir& ir) {
  if (ir.tables.has_placements) return;
  ir.tables.has_placements = true;
  for (GraphRecord& graph : ir.tables.graphs)
    for (Node& node : graph.nodes) {
      if (node.called_graph == GraphId::none) node.placement = {0};
      for (const auto* tensors : {&node.inputs, &node.outputs})
        for (const TensorId tensor : *tensors) place(graph.tensors[tensor], {0});
    }
}

/// Returns the input that determines where a load or store runs, or -1 if the scope determines it.
constexpr int placed_input(const OpInfo& op, const PackedAttributes& attributes) {
  const Transfer transfer = op.transfer(attributes);
  if (transfer.kind == TransferKind::code) return -1;
  return transfer.stores ? transfer.tensor : op.modifies;
}

/// Returns where an op on the given inputs runs when it is appended: on the IPU of the scope if it names one, otherwise on that
/// of its inputs. Fails if an input is elsewhere, and returns a placement on no IPU.
constexpr Placement find_placement(Ir& ir, const OpInfo& op, Span<const Tensor> inputs, const PackedAttributes& attributes) {
  Placement placement = ir.tables.current_placement;
  const auto at = [&](const Tensor& input) -> const Placement& { return ir.tables.record(input).placement; };
  const auto follow = [&](const Tensor& input) {
    if (placement.ipu < 0) placement.ipu = at(input).ipu;
  };
  if (op.result_placement) {
    const Placement from = at(inputs[0]);
    return op.result_placement(attributes, from.is_known() ? from : Placement{(std::max)(placement.ipu, 0), placement.tile_set});
  }
  if (op.transfer) {
    if (const int input = placed_input(op, attributes); input >= 0) {
      const Tensor& tensor = inputs[static_cast<std::size_t>(input)];
      follow(tensor);
      if (at(tensor).is_known()) placement.tile_set = at(tensor).tile_set;
    }
  } else {
    for (const Tensor& input : inputs) follow(input);
  }
  if (placement.ipu < 0) placement.ipu = 0;
  for (const Tensor& input : inputs) {
    if (!at(input).is_known() || at(input) == placement) continue;
    Text problem = text(op.name, ": ", to_text(input), " on ", to_text(at(input)), ", for an op on ", to_text(placement), ": ");
    if (at(input).ipu == placement.ipu) problem += "a tensor on its tiles, such as io_tile_copy gives, expected";
    else problem += text("a tensor of that IPU, such as copy_to_ipu(", placement.ipu, ") gives, expected");
    ir.fail(problem);
    return {};
  }
  return placement;
}
/// Places the last appended node and its tensors.
constexpr void place_node(Ir& ir, Node& node, const Placement& placement) {
  GraphRecord& graph = ir.tables.current();
  node.placement = placement;
  if (!node.op->result_placement)
    for (const TensorId input : node.inputs) place(graph.tensors[input], placement);
  for (const TensorId output : node.outputs) graph.tensors[output].placement = placement;
}

/// Places a call's tensors like those of the called graphs. Fails if an input is on another IPU than the graph requires.
constexpr void place_call(Ir& ir, Node& call) {
  GraphRecord& graph = ir.tables.current();
  for_each_callee(call, [&](GraphId callee, int first_input) {
    const GraphRecord& called = ir.tables.record(callee);
    for (std::size_t i = 0; i < called.inputs.size(); ++i) {
      const Placement& wanted = called.tensors[called.inputs[i]].placement;
      const TensorId input = call.inputs[static_cast<std::size_t>(first_input) + i];
      TensorRecord& given = graph.tensors[input];
      if (!wanted.is_known()) continue;
      place(given, wanted);
      if (given.placement == wanted) continue;
      ir.fail(text("call of ", called.name, ": ", to_text(Tensor(ir, ir.tables.current_graph, input)), " on ",
                   to_text(given.placement), " for input ", i, ", which the graph uses on ", to_text(wanted),
                   ": a tensor there expected"));
      return;
    }
    for (std::size_t o = 0; o < call.outputs.size() && o < called.outputs.size(); ++o) {
      const TensorId output = called.outputs[o];
      Placement made = called.tensors[output].placement;
      for (std::size_t i = 0; i < called.inputs.size() && !made.is_known(); ++i)  // an input that goes through
        if (called.inputs[i] == output) made = graph.tensors[call.inputs[static_cast<std::size_t>(first_input) + i]].placement;
      place(graph.tensors[call.outputs[o]], made.is_known() ? made : Placement{(std::max)(ir.tables.current_placement.ipu, 0)});
    }
  });
}

/// Scope that places new ops.
class [[nodiscard]] PlacementScope {
 public:
  constexpr PlacementScope(Ir& ir, const Placement& placement) : ir_(ir), outer_(ir.tables.current_placement) {
    ir.tables.current_placement = placement;
  }
  constexpr ~PlacementScope() { ir_.tables.current_placement = outer_; }
  PlacementScope(const PlacementScope&) = delete;
  PlacementScope& operator=(const PlacementScope&) = delete;

 private:
  Ir& ir_;
  Placement outer_;
};

}  // namespace detail

/// Opens a scope in which new ops of all graphs run on IPU `number` of each replica, counted from 0. Outside of such scopes an op
/// runs where its inputs are, or on IPU 0 if no input has a placement. A variable, a constant or a graph's input is where the
/// first op that uses it runs; ops::ipu_copy copies a tensor to another IPU. Target::with_ipus sets the number of IPUs.
///
///     {
///       const auto second = tw::ipu(ir, 1);
///       y = layer.call(x.copy_to_ipu(1));
///     }
///
/// Errors: a negative number; an input of an op that is on another IPU; a number that the target does not have.
[[nodiscard]] constexpr detail::PlacementScope ipu(Ir& ir, int number) {
  if (number < 0) ir.fail(text("ipu: ", number, ": a number of at least 0 expected"));
  detail::track_placements(ir);
  return {ir, {number, ir.tables.current_placement.tile_set}};
}
/// Opens a scope in which new ops run on the IO tiles of their IPU. Loads and stores there run in parallel to the computation on
/// other tiles. ops::io_tile_copy copies a tensor from one set of tiles to the other. On the host, which has one set, the scope
/// is a no-op.
constexpr detail::PlacementScope io_tiles(Ir& ir) {
  detail::track_placements(ir);
  return {ir, {ir.tables.current_placement.ipu, TileSet::io}};
}

constexpr std::optional<int> Tensor::ipu() const {
  detail::track_placements(ir());
  const Placement& placement = ir().tables.record(*this).placement;
  return placement.is_known() ? std::optional(placement.ipu) : std::nullopt;
}
constexpr std::optional<TileSet> Tensor::tile_set() const {
  detail::track_placements(ir());
  const Placement& placement = ir().tables.record(*this).placement;
  return placement.is_known() ? std::optional(placement.tile_set) : std::nullopt;
}

}  // namespace tilewright
