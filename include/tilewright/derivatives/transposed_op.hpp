#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/derivatives/copied_ops.hpp"
#include "tilewright/op/gradient_context.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tilewright::detail {

/// The gradient of one op as a graph of its own. Its inputs are the gradients of the op's results, and the values that the
/// gradient needs. Its outputs are the gradients of those inputs of the op that have tangents.
class TransposedOp final : public GradientContext::Builder {
 public:
  /// `tangents`: by tensor of the forward graph; invalid: none.
  constexpr TransposedOp(Ir& ir, GraphId forward, Node node, const List<Tensor, TensorId>& tangents)
      : ir_(ir), forward_(forward), node_(std::move(node)), tangents_(tangents) {}

  /// Builds the graph. `results`: number of the op's results that have gradients.
  constexpr void build(std::size_t results) {
    graph_ = ir_.tables.add_derived_graph(forward_, "_op");
    const GraphScope scope(ir_.graph(graph_));
    const PlacementScope placement(ir_, node_.placement);
    const int outer_scope = std::exchange(ir_.tables.current_scope, node_.scope);
    for (std::size_t i = 0; i < results; ++i)
      if (const TensorSpec spec = spec_of(node_.outputs[i]); is_floating_point(spec.dtype))
        given_.push_back({node_.outputs[i], add_graph_input(ir_, spec)});
    GradientContext context(*this, ir_, forward_, node_);
    if (node_.op == &call_info) differentiate_call(context);
    else node_.op->gradient(context);
    for (const Part& part : parts_)
      if (!ir_.failed())
        add_gradient(part.tensor, part.join(ir_, spec_of(part.tensor), {part.gradients.data(), part.gradients.size()}));
    for (const auto& [tensor, gradient] : gradients_)
      if (!ir_.failed()) graph_output(gradient);
    ir_.tables.current_scope = outer_scope;
  }

  /// Appends the derivative of the op to the current graph: the gradient of the graph for the gradients that it takes. Calls
  /// `set(result, tangent)` for each result of the op with a tangent. `value_of(tensor)`: the value of a forward tensor.
  constexpr void append_tangents(auto&& value_of, auto&& set) {
    if (ir_.failed() || gradients_.empty()) return;
    AutodiffOptions options{.skips_unreached = true};
    options.grads_required.emplace();
    for (const auto& [tensor, gradient] : given_) options.grads_required->push_back(gradient);
    const GradientRecord back = differentiate(ir_, graph_, options);
    if (ir_.failed()) return;
    CopiedOps forward(ir_, graph_), tangents(ir_, back.graph);
    for (const auto& [tensor, value] : values_) forward.set(value.number(), value_of(tensor));
    std::size_t next = 0;
    for (std::size_t i = 0; i < back.inputs.size(); ++i) {
      const auto& [type, tensor] = back.inputs[i];
      const TensorId input = ir_.tables.record(back.graph).inputs[i];
      if (type == ExpectedConnectionType::FwdGrad) tangents.set(input, tangents_[gradients_[next++].first]);
      else tangents.set(input, forward.value(tensor));
    }
    for (std::size_t i = 0; i < back.outputs.size(); ++i)
      for (const auto& [tensor, gradient] : given_)
        if (gradient.number() == back.outputs[i]) set(tensor, tangents.value(ir_.tables.record(back.graph).outputs[i]));
    remove_graphs(back.graph);
  }

  constexpr bool needs_gradient(TensorId tensor) const override { return tangents_[tensor].valid(); }
  constexpr const Tensor* gradient(TensorId tensor) const override { return find(given_, tensor); }
  constexpr void add_gradient(TensorId tensor, Tensor gradient) override {
    for (auto& [known, sum] : gradients_)
      if (known == tensor) {
        sum = sum + gradient;
        return;
      }
    gradients_.push_back({tensor, gradient});
  }
  constexpr void add_gradient_part(TensorId tensor, const GradientPart& part, JoinRule join) override {
    for (Part& known : parts_)
      if (known.tensor == tensor && known.join == join) return known.gradients.push_back(part);
    parts_.push_back({tensor, join, {part}});
  }
  constexpr Tensor activation(TensorId tensor) override {
    if (const Tensor* known = find(values_, tensor)) return *known;
    const TensorRecord record = ir_.tables.record(forward_).tensors[tensor];
    if (record.kind == TensorKind::constant) return copy_constant(ir_, record);
    values_.push_back({tensor, add_graph_input(ir_, record.spec)});
    return values_.back().second;
  }
  /// Adds no op, so that rules use the op's inputs.
  constexpr Tensor added_activation(const OpInfo&, const Node&) override { return {}; }

 private:
  struct Part {
    TensorId tensor;
    JoinRule join;
    List<GradientPart> gradients;
  };
  using TensorsOf = List<std::pair<TensorId, Tensor>>;  // by forward tensor, in this graph

  /// Removes both graphs, whose ops are copied, if nothing refers to them: if they are the last ones, without calls.
  constexpr void remove_graphs(GraphId back) {
    auto& graphs = ir_.tables.graphs;
    const std::size_t count = graphs.size();
    if (static_cast<std::size_t>(back) + 1 != count || static_cast<std::size_t>(graph_) + 2 != count) return;
    for (const GraphId graph : {graph_, back})
      for (const Node& node : graphs[graph].nodes)
        if (node.called_graph != GraphId::none) return;
    graphs.resize(count - 2);
  }
  static constexpr const Tensor* find(const TensorsOf& list, TensorId tensor) {
    for (const auto& each : list)
      if (each.first == tensor) return &each.second;
    return nullptr;
  }
  constexpr TensorSpec spec_of(TensorId tensor) const { return ir_.tables.record(forward_).tensors[tensor].spec; }

  Ir& ir_;
  GraphId forward_;
  Node node_;
  const List<Tensor, TensorId>& tangents_;
  GraphId graph_ = GraphId::none;
  TensorsOf given_{};      // gradients of the op's results
  TensorsOf gradients_{};  // of the op's inputs
  TensorsOf values_{};     // that the gradient needs
  List<Part> parts_{};
};

}  // namespace tilewright::detail
