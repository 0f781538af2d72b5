#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/derivatives/batched_ops.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/program/call.hpp"

namespace tilewright::detail {

/// Returns whether a node calls a graph that has a form for a batch. A gradient by hand would get lost in it.
constexpr bool is_batched_call(Ir& ir, const Node& node) {
  return node.op == &call_info && node.modified.empty() && !is_by_hand(ir, node.called_graph);
}
/// Returns the rule of a node for a batch, or null.
constexpr BatchRule batch_rule(const Node& node) {
  return node.outputs.size() == 1 && node.modified.empty() ? batch_rule(*node.op) : nullptr;
}
/// Returns whether each op of a graph has a form for a batch, and each tensor room for an axis.
constexpr bool has_batched_form(Ir& ir, GraphId graph) {
  const GraphRecord& record = ir.tables.record(graph);
  for (std::size_t t = 0; t < record.tensors.size(); ++t)
    if (record.tensors[TensorId(t)].spec.shape.rank == max_rank) return false;
  for (const Node& node : record.nodes)
    if (is_batched_call(ir, node) ? !has_batched_form(ir, node.called_graph) : !batch_rule(node)) return false;
  return true;
}

/// A graph that computes another graph for a batch, and which of its outputs have the leading axis.
struct BatchedGraph {
  GraphId graph = GraphId::none;
  List<bool> batched{};
};

/// Builds the graph for a batch: each op has a leading axis if one of its operands has one.
class Batcher {
 public:
  constexpr Batcher(Ir& ir, GraphId forward, std::int64_t count) : ir_(ir), forward_(forward), count_(count) {}

  /// `batched`: which inputs have the leading axis.
  constexpr BatchedGraph run(const List<bool>& batched) {
    BatchedGraph result{ir_.tables.add_derived_graph(forward_, "_batch")};
    const GraphScope scope(ir_.graph(result.graph));
    const PlacementScope anywhere(ir_, {});
    values_.resize(record().tensors.size());
    batched_.resize(record().tensors.size());
    const List<TensorId> inputs = record().inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      TensorSpec spec = record().tensors[inputs[i]].spec;
      if (batched[i]) spec.shape = with_leading_axis(spec.shape);
      if (ir_.failed()) return result;
      values_[inputs[i]] = add_graph_input(ir_, spec);
      batched_[inputs[i]] = batched[i];
    }
    for (std::size_t n = 0; n < record().nodes.size() && !ir_.failed(); ++n) append(record().nodes[NodeId(n)]);
    if (ir_.failed()) return result;
    for (const TensorId output : List<TensorId>(record().outputs)) {
      graph_output(value(output));
      result.batched.push_back(batched_[output]);
    }
    return result;
  }

 private:
  constexpr const GraphRecord& record() const { return ir_.tables.record(forward_); }
  constexpr Tensor value(TensorId tensor) {
    if (!values_[tensor].valid()) values_[tensor] = copy_constant(ir_, record().tensors[tensor]);
    return values_[tensor];
  }
  constexpr Shape with_leading_axis(const Shape& shape) const {
    if (shape.rank < max_rank) return with_front(count_, shape);
    ir_.fail(text("vmap of ", record().name, ": ", to_text(shape), " for each row: at most ", max_rank - 1, " axes expected"));
    return shape;
  }
  constexpr void append(Node node) {
    List<bool> batched;
    bool is_batched = false;
    for (const TensorId input : node.inputs) {
      batched.push_back(batched_[input]);
      is_batched = is_batched || batched_[input];
    }
    if (!is_batched) {
      const auto value_of = [this](TensorId tensor) { return value(tensor); };
      return append_copy(ir_, forward_, node, values_, value_of);
    }
    const int outer_scope = std::exchange(ir_.tables.current_scope, node.scope);
    if (is_batched_call(ir_, node)) append_call(node, batched);
    else append_op(node, batched);
    ir_.tables.current_scope = outer_scope;
  }
  constexpr void append_op(const Node& node, const List<bool>& batched) {
    const BatchRule rule = batch_rule(node);
    if (!rule) {
      ir_.fail(text("vmap of ", record().name, ": ", node.op->name, ".", node.id,
                    " has no form for a batch: another op, or a loop "
                    "over the rows, expected"));
      return;
    }
    const TensorSpec output = record().tensors[node.outputs[0]].spec;
    BatchedOp op{ir_, node, count_, {}, output, {}, batched};
    for (const TensorId input : node.inputs) {
      op.specs.push_back(record().tensors[input].spec);
      op.inputs.push_back(value(input));
      with_leading_axis(op.specs.back().shape);
    }
    const TensorSpec expected{with_leading_axis(output.shape), output.dtype};
    if (ir_.failed()) return;
    const Tensor result = rule(op);
    if (!ir_.failed() && result.spec() != expected)
      ir_.fail(text("vmap of ", record().name, ": ", node.op->name, ".", node.id, " on a batch gives ", to_text(result.spec()),
                    ": ", to_text(expected), " expected"));
    values_[node.outputs[0]] = result;
    batched_[node.outputs[0]] = true;
  }
  constexpr void append_call(const Node& node, const List<bool>& batched) {
    const BatchedGraph callee = Batcher(ir_, node.called_graph, count_).run(batched);
    if (ir_.failed()) return;
    List<Tensor> inputs;
    for (const TensorId input : node.inputs) inputs.push_back(value(input));
    const Outputs outputs = call_with_info(ir_.graph(callee.graph), inputs).outputs();
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      values_[node.outputs[o]] = outputs[o];
      batched_[node.outputs[o]] = callee.batched[o];
    }
  }

  Ir& ir_;
  GraphId forward_;
  std::int64_t count_;
  List<Tensor, TensorId> values_{};  // by forward tensor
  List<bool, TensorId> batched_{};   // by forward tensor: whether its value has the leading axis
};

}  // namespace tilewright::detail
