#pragma once
#include <initializer_list>
#include <span>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// What a shape rule sees: the specs of an op's inputs and its attributes; it adds the outputs' specs or fails.
class Inference {
 public:
  constexpr Inference(Ir& ir, const OpInfo& op, List<TensorSpec> inputs, const PackedAttributes& attributes)
      : ir_(ir), op_(op), inputs_(std::move(inputs)), attributes_(attributes) {}

  constexpr Ir& ir() { return ir_; }
  constexpr int input_count() const { return static_cast<int>(inputs_.size()); }
  constexpr const TensorSpec& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  template <class A>
  constexpr A attributes() const {
    return unpack<A>(attributes_);
  }
  constexpr void output(const TensorSpec& spec) { outputs_.push_back(spec); }
  /// Output 0 is one of the parts of a tensor of this shape.
  constexpr void output_meta_shape(const Shape& whole, std::int64_t parts) { meta_shape_ = ir_.add_meta_shape(whole, parts); }
  constexpr int meta_shape() const { return meta_shape_; }
  /// Reports `<op>: <message>` with the module path.
  template <class... Pieces>
  constexpr void fail(const Pieces&... message) {
    ir_.fail(text(op_.name, ": ", message...));
    failed_ = true;
  }
  /// Fails unless the input has a dtype that the op takes; says which were expected.
  constexpr bool require_floating_point(int i) {
    if (is_floating_point(input(i).dtype)) return true;
    fail(to_text(input(i)), ": ", floating_point_dtypes(), " expected");
    return false;
  }
  /// Fails for an attribute that cannot be a factor or addend of elements of the dtype: one that is not whole, for integers.
  constexpr bool require_number(double number, DType dtype) {
    if (computes_in_float(dtype)) dtype = float32;
    if (find_unfit({&number, 1}, dtype) < 0) return true;
    fail(number_text(number), " as ", to_text(dtype), ": ", expected_number(dtype), " expected");
    return false;
  }
  constexpr bool require_equal_dtypes(int a, int b) {
    if (input(a).dtype == input(b).dtype) return true;
    fail(to_text(input(a)), " and ", to_text(input(b)), ": equal dtypes expected");
    return false;
  }
  /// The axis counted from the first, or -1 after a failure.
  constexpr int require_axis(std::int64_t axis, int rank) {
    if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
    fail("axis ", axis, " of a tensor of rank ", rank, ": an axis from ", -rank, " to ", rank - 1, " expected");
    return -1;
  }
  constexpr bool failed() const { return failed_; }
  constexpr const List<TensorSpec>& outputs() const { return outputs_; }

 private:
  Ir& ir_;
  const OpInfo& op_;
  List<TensorSpec> inputs_;
  List<TensorSpec> outputs_;
  const PackedAttributes& attributes_;
  int meta_shape_ = -1;
  bool failed_ = false;
};

namespace detail {
/// graph 'Net_subgraph(0)', the main graph or another Ir.
constexpr Text place_of(const Tensor& tensor, const Ir& ir) {
  if (!tensor.is_of(ir)) return "another Ir";
  if (tensor.graph_id() == GraphId::main) return "the main graph";
  return text("graph '", ir.record(tensor.graph_id()).name, "'");
}
constexpr bool check_may_change(Ir& ir, const OpInfo& op, const Tensor& input) {
  if (ir.record(input).kind != TensorKind::constant) return true;
  ir.fail(text(op.name, ": ", to_text(input), " is a constant: a tensor that may change in place expected"));
  return false;
}
constexpr bool check_inputs(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    if (!input.valid()) {
      if (!ir.failed())
        ir.fail(text(op.name, ": input ", &input - inputs.data(), " is a Tensor() of no graph: a tensor expected"));
      return false;
    }
    if (!input.is_of(ir) || input.graph_id() != ir.current_graph) {
      ir.fail(text(op.name, ": ", to_text(input), " of ", place_of(input, ir), ": a tensor of ",
                   place_of({ir, ir.current_graph, TensorId{}}, ir), ", which is being built, expected"));
      return false;
    }
    if (ir.record(input).kind == TensorKind::remote) {
      ir.fail(text(op.name, ": ", to_text(input), " lives in streaming memory: what remote_load gives of it expected"));
      return false;
    }
  }
  return op.modifies < 0 || check_may_change(ir, op, inputs[static_cast<std::size_t>(op.modifies)]);
}
constexpr void append_in_sequence(Ir& ir, NodeId node) {
  if (ir.sequences.empty() || ir.sequences.back().graph != ir.current_graph) return;
  SequenceScope& scope = ir.sequences.back();
  for (const NodeId before : scope.before) ir.current().sequence.push_back({before, node});
  if (scope.ordered) scope.before = scope.last = {node};
  else scope.last.push_back(node);
}
}  // namespace detail

namespace detail {
/// Whether a result of the input's shape gets the input's meta shape: from every input of an elementwise op, and from input 0 of
/// an op in place, a view or a collective.
constexpr bool hands_on_shard(const OpInfo& op, std::size_t input) {
  return op.elementwise || (input == 0 && (op.modifies >= 0 || op.view || op.collective_items));
}
/// The meta shape that an output of the given shape gets from the inputs, an index in Ir::meta_shapes, or -1. Fails if inputs are
/// shards of tensors of different shapes.
constexpr int find_meta_shape(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs, const Shape& output) {
  int found = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorRecord& input = ir.record(inputs[i]);
    if (input.meta_shape < 0 || input.spec.shape != output || !hands_on_shard(op, i) || input.meta_shape == found) continue;
    if (found >= 0) {
      const auto parts = [&ir](int index) {
        const auto& [whole, count] = ir.meta_shapes[static_cast<std::size_t>(index)];
        return text(to_text(whole), " in ", count, " parts");
      };
      ir.fail(text(op.name, ": ", to_text(output), " of ", parts(found), " and of ", parts(input.meta_shape),
                   ": shards of tensors of one shape in as many parts expected"));
      return -1;
    }
    found = input.meta_shape;
  }
  return found;
}
/// Gives the outputs of a call the meta shapes of the called graph's outputs.
constexpr void hand_on_meta_shapes(Ir& ir, const Node& call) {
  const GraphRecord& called = ir.record(call.called_graph);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorRecord& from = called.tensors[called.outputs[i]];
    TensorRecord& to = ir.current().tensors[call.outputs[i]];
    if (to.spec == from.spec) to.meta_shape = from.meta_shape;
  }
}
}  // namespace detail

/// Appends a node to the current graph with outputs of the given specs; returns its number.
constexpr NodeId append_node(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs, std::span<const TensorSpec> outputs,
                             const PackedAttributes& attributes = {}, GraphId called_graph = GraphId::none) {
  auto& graph = ir.current();
  const auto index = NodeId(graph.nodes.size());
  Node node{.op = &op, .id = ir.next_op_id++, .attributes = attributes, .called_graph = called_graph, .scope = ir.current_scope};
  node.inputs.reserve(inputs.size());
  node.outputs.reserve(outputs.size());
  for (const Tensor& input : inputs) node.inputs.push_back(input.id());
  for (const TensorSpec& spec : outputs) node.outputs.push_back(ir.add_tensor({.spec = spec, .producer = index}));
  make_room(graph.nodes);
  graph.nodes.push_back(std::move(node));
  detail::append_in_sequence(ir, index);
  if (called_graph != GraphId::none && !ir.meta_shapes.empty()) detail::hand_on_meta_shapes(ir, graph.nodes.back());
  return index;
}

/// Checks the inputs, infers the outputs and appends the op to the current graph. After a failure nothing is appended
/// and no tensors are returned.
constexpr List<Tensor> emit(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs, const PackedAttributes& attributes = {}) {
  if (ir.failed() || !detail::check_inputs(ir, op, inputs)) return {};
  List<TensorSpec> specs;
  specs.reserve(inputs.size());
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  Inference inference(ir, op, std::move(specs), attributes);
  op.infer(inference);
  if (inference.failed()) return {};
  for (const TensorSpec& output : inference.outputs())
    if (!ir.check_spec(op.name, "", output)) return {};
  int meta_shape = inference.meta_shape();
  if (meta_shape < 0 && !ir.meta_shapes.empty() && !inference.outputs().empty())
    meta_shape = detail::find_meta_shape(ir, op, inputs, inference.outputs()[0].shape);
  if (ir.failed()) return {};
  const NodeId index = append_node(ir, op, inputs, inference.outputs(), attributes);
  List<Tensor> results;
  for (const TensorId id : ir.current().nodes[index].outputs) results.push_back({ir, ir.current_graph, id});
  if (meta_shape >= 0) ir.record(results[0]).meta_shape = meta_shape;
  return results;
}

/// As emit, for an op that also changes input `modified` in place without an output as its alias.
constexpr List<Tensor> emit_modifying(Ir& ir, const OpInfo& op, std::span<const Tensor> inputs, int modified,
                                      const PackedAttributes& attributes = {}) {
  auto results = emit(ir, op, inputs, attributes);
  if (results.empty() || !detail::check_may_change(ir, op, inputs[static_cast<std::size_t>(modified)])) return {};
  ir.current().nodes.back().modified.push_back(modified);
  return results;
}

/// Tensor i of the list, or an invalid one of the same Ir if the list is shorter (after a failure).
constexpr Tensor at_or_invalid(Ir& ir, const List<Tensor>& tensors, std::size_t i) {
  return i < tensors.size() ? tensors[i] : Tensor(ir, ir.current_graph, TensorId::none);
}

}  // namespace tilewright
