#pragma once
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/contexts.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/graph/placements.hpp"

namespace tilewright {

/// Context of a shape rule: the specs of an op's inputs and its attributes. The rule adds the outputs' specs or fails.
class Inference {
 public:
  constexpr Inference(Ir& ir, const OpInfo& op, List<TensorSpec> inputs, const PackedAttributes& attributes)
      : ir_(ir), op_(op), inputs_(std::move(inputs)), attributes_(attributes) {}

  constexpr Ir& ir() { return ir_; }
  constexpr bool is_in_place() const { return op_.modifies >= 0; }
  constexpr int input_count() const { return static_cast<int>(inputs_.size()); }
  constexpr const TensorSpec& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  template <class A>
  constexpr A attributes() const {
    return unpack<A>(attributes_);
  }
  constexpr void output(const TensorSpec& spec) { outputs_.push_back(spec); }
  /// Declares output 0 as one of `parts` shards of a tensor of shape `whole`.
  constexpr void output_meta_shape(const Shape& whole, std::int64_t parts) {
    meta_shape_ = ir_.tables.add_meta_shape(whole, parts);
  }
  constexpr int meta_shape() const { return meta_shape_; }
  /// Reports `<op>: <message>` with the module path.
  template <class... Pieces>
  constexpr void fail(const Pieces&... message) {
    ir_.fail(text(op_.name, ": ", message...));
    failed_ = true;
  }
  /// Fails unless the input has a dtype that the op supports; the error lists the supported ones.
  constexpr bool require_floating_point(int i) {
    if (is_floating_point(input(i).dtype) && has_arithmetic(input(i).dtype)) return true;
    fail(to_text(input(i)), ": ", floating_point_dtypes(), " expected");
    return false;
  }
  /// Fails for bool.
  constexpr bool require_number_dtype(int i) {
    if (input(i).dtype != boolean) return true;
    fail(to_text(input(i)), ": a dtype other than bool expected: cast it first");
    return false;
  }
  /// Fails for an attribute, called `name`, that cannot be a factor or addend of elements of the dtype: NaN, infinity, or for
  /// integers a fraction.
  constexpr bool require_number(std::string_view name, double number, DType dtype) {
    if (computes_in_float(dtype)) dtype = float32;
    if (number - number == 0 && find_unfit({&number, 1}, dtype) < 0) return true;
    fail(name, " ", number_text(number), " as ", to_text(dtype), ": ", expected_number(dtype), " expected");
    return false;
  }
  constexpr bool require_equal_dtypes(int a, int b) {
    if (input(a).dtype == input(b).dtype) return true;
    fail(to_text(input(a)), " and ", to_text(input(b)), ": equal dtypes expected");
    return false;
  }
  /// Returns the axis counted from the first, or -1 after a failure.
  constexpr int require_axis(std::int64_t axis, int rank) {
    if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
    if (rank == 0) return fail("axis ", axis, " of a scalar: a tensor with axes expected"), -1;
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
/// Returns the place of a tensor for errors: graph 'Net_subgraph(0)', the main graph or another Ir.
constexpr Text place_of(const Tensor& tensor, const Ir& ir) {
  if (!tensor.is_of(ir)) return "another Ir";
  if (tensor.graph_id() == GraphId::main) return "the main graph";
  return text("graph '", ir.tables.record(tensor.graph_id()).name, "'");
}
/// Returns two things: the layout that views give a tensor in its graph, and the smaller tensor whose memory the tensor repeats.
/// The second is none if each element has its own place in memory.
constexpr Pair<Layout, TensorId> repeated_tensor(const GraphRecord& record, TensorId tensor) {
  const TensorRecord& known = record.tensors[tensor];
  const Node* const node = known.producer == NodeId::none ? nullptr : &record.nodes[known.producer];
  const TensorId input = !node ? TensorId::none : node->op->view ? node->inputs[0] : aliased_input(*node, tensor);
  if (input == TensorId::none) return {dense_layout(known.spec.shape), TensorId::none};
  auto [layout, repeated] = repeated_tensor(record, input);
  if (!node->op->view) return {layout, repeated};
  const Shape &from = record.tensors[input].spec.shape, &to = known.spec.shape;
  if (!node->op->any_layout && !is_dense(from, layout)) layout = dense_layout(from), repeated = TensorId::none;
  layout = node->op->view(from, layout, to, node->attributes);
  if (!repeats_elements(to, layout)) repeated = TensorId::none;
  else if (repeated == TensorId::none) repeated = input;
  return {layout, repeated};
}
/// Checks that an op may write a tensor in place; fails if not.
constexpr bool check_may_change(Ir& ir, const OpInfo& op, const Tensor& input) {
  const TensorRecord& record = ir.tables.record(input);
  if (record.kind == TensorKind::constant) {
    ir.fail(text(op.name, ": ", to_text(input), " is a constant: a tensor that may change in place expected"));
    return false;
  }
  if (record.producer == NodeId::none) return true;
  const GraphRecord& graph = ir.tables.record(input.graph_id());
  if (const OpInfo& producer = *graph.nodes[record.producer].op; producer.result_stays) {
    ir.fail(text(op.name, ": ", to_text(input), " of ", producer.name,
                 ", which is a copy: a tensor that may change in place expected"));
    return false;
  }
  if (const TensorId repeated = repeated_tensor(graph, input.number()).second; repeated != TensorId::none) {
    ir.fail(text(op.name, ": ", to_text(input), ", which is a broadcast view of ",
                 to_text(Tensor(ir, input.graph_id(), repeated)), ": a tensor with memory for each element expected"));
    return false;
  }
  return true;
}
constexpr bool check_inputs(Ir& ir, const OpInfo& op, Span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    if (!input.valid()) {
      if (!ir.failed())
        ir.fail(text(op.name, ": input ", &input - inputs.data(), " is a Tensor() of no graph: a tensor expected"));
      return false;
    }
    if (!input.is_of(ir) || input.graph_id() != ir.tables.current_graph) {
      ir.fail(text(op.name, ": input ", &input - inputs.data(), ", ", to_text(input), ", of ", place_of(input, ir),
                   ": a tensor of ", place_of({ir, ir.tables.current_graph, TensorId{}}, ir),
                   ", which is being built, expected"));
      return false;
    }
    const TensorRecord& record = ir.tables.record(input);
    if (record.kind == TensorKind::intermediate && record.producer == NodeId::none) {
      ir.fail(text(op.name, ": ", to_text(input),
                   " of a scope that has ended, of only_if or of a pipeline: a tensor that its "
                   "ops change in place, or a stream, expected"));
      return false;
    }
    if (record.kind == TensorKind::remote) {
      ir.fail(text(op.name, ": ", to_text(input), " lives in streaming memory: what remote_load gives of it expected"));
      return false;
    }
  }
  if (ir.tables.has_contexts && !check_input_contexts(ir, op, inputs)) return false;
  return op.modifies < 0 || check_may_change(ir, op, inputs[static_cast<std::size_t>(op.modifies)]);
}
/// Checks that the op computes with the dtypes of its operands; fails if not.
constexpr bool check_arithmetic(Ir& ir, const OpInfo& op, Span<const TensorSpec> operands) {
  for (const TensorSpec& operand : operands) {
    if (has_arithmetic(operand.dtype) || (op.takes_float8 && is_float8(operand.dtype))) continue;
    if (is_complex(operand.dtype)) return check_spec(ir, op.name, "", operand);
    ir.fail(text(op.name, ": ", to_text(operand),
                 ", with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it, expected"));
    return false;
  }
  return true;
}
constexpr void append_in_sequence(Ir& ir, NodeId node) {
  if (ir.tables.sequences.empty() || ir.tables.sequences.back().graph != ir.tables.current_graph) return;
  SequenceScope& scope = ir.tables.sequences.back();
  if (scope.mode == SequenceMode::pass) return;
  GraphRecord& graph = ir.tables.current();
  for (const NodeId before : scope.before)
    if (graph.nodes[before].context == graph.nodes[node].context) graph.sequence.push_back({before, node});
  if (scope.mode != SequenceMode::ordered) return scope.last.push_back(node);
  go_on_after(ir, scope.before, {node});
  go_on_after(ir, scope.last, {node});
}
}  // namespace detail

namespace detail {
/// Returns whether a result of the input's shape gets the input's meta shape. It does for every input of an elementwise op, and
/// for input 0 of an in-place op, a view or a collective.
constexpr bool hands_on_shard(const OpInfo& op, std::size_t input) {
  return op.elementwise || (input == 0 && (op.modifies >= 0 || op.view || op.collective_items));
}
/// Returns the meta shape that an output of the given shape gets from the inputs, an index in IrTables::meta_shapes, or -1. Fails
/// if inputs are shards of tensors of different shapes.
constexpr int find_meta_shape(Ir& ir, const OpInfo& op, Span<const Tensor> inputs, const Shape& output) {
  int found = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorRecord& input = ir.tables.record(inputs[i]);
    if (input.meta_shape < 0 || input.spec.shape != output || !hands_on_shard(op, i) || input.meta_shape == found) continue;
    if (found >= 0) {
      const auto parts = [&ir](int index) {
        const auto& [whole, count] = ir.tables.meta_shapes[static_cast<std::size_t>(index)];
        return text(to_text(whole), " in ", count, " parts");
      };
      ir.fail(text(op.name, ": ", to_text(output), " of ", parts(found), " and of ", parts(input.meta_shape),
                   ": shards of tensors of one shape in the same number of parts expected"));
      return -1;
    }
    found = input.meta_shape;
  }
  return found;
}
/// Sets the meta shapes of a call's outputs to those of the called graph's outputs.
constexpr void hand_on_meta_shapes(Ir& ir, const Node& call) {
  const GraphRecord& called = ir.tables.record(call.called_graph);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorRecord& from = called.tensors[called.outputs[i]];
    TensorRecord& to = ir.tables.current().tensors[call.outputs[i]];
    if (to.spec == from.spec) to.meta_shape = from.meta_shape;
  }
}
}  // namespace detail

namespace detail {
/// Calls the current graph's hooks with its node.
constexpr void run_op_created_hooks(Ir& ir, NodeId node) {
  const CreatedOp op(ir, ir.tables.current_graph, node);
  if (ir.tables.is_in_hook) {
    ir.fail(text("register_op_created_hook: ", op.name(), " by a hook: a hook that appends no ops expected"));
    return;
  }
  ir.tables.is_in_hook = true;
  for (const OpCreatedHook& hook : ir.tables.functions.op_created_hooks)
    if (hook.graph() == ir.tables.current_graph) hook(op);
  ir.tables.is_in_hook = false;
}
}  // namespace detail

/// Appends a node to the current graph with outputs of the given specs; returns its number.
constexpr NodeId append_node(Ir& ir, const OpInfo& op, Span<const Tensor> inputs, Span<const TensorSpec> outputs,
                             const PackedAttributes& attributes = {}, GraphId called_graph = GraphId::none,
                             const Placement& placement = {}) {
  if (std::is_constant_evaluated() && ir.tables.next_op_id > 32768)  // compilers show the line of the error, with its text
    TW_THROW TraceError("over 32768 ops while compiling: a loop that ends, tw::repeat, or tw::trace at run time expected");
  auto& graph = ir.tables.current();
  const auto index = NodeId(graph.nodes.size());
  Node node{.op = &op,
            .id = ir.tables.next_op_id++,
            .attributes = attributes,
            .called_graph = called_graph,
            .scope = ir.tables.current_scope};
  if (ir.tables.current_graph == GraphId::main) node.context = ir.tables.current_context;
  node.inputs.reserve(inputs.size());
  node.outputs.reserve(outputs.size());
  for (const Tensor& input : inputs) node.inputs.push_back(input.number());
  for (const TensorSpec& spec : outputs) node.outputs.push_back(ir.tables.add_tensor({.spec = spec, .producer = index}));
  make_room(graph.nodes);
  graph.nodes.push_back(std::move(node));
  detail::append_in_sequence(ir, index);
  if (called_graph != GraphId::none && !ir.tables.meta_shapes.empty()) detail::hand_on_meta_shapes(ir, graph.nodes.back());
  if (placement.is_known()) detail::place_node(ir, graph.nodes.back(), placement);
  if (!ir.tables.functions.op_created_hooks.empty()) detail::run_op_created_hooks(ir, index);
  return index;
}

/// Checks the inputs, infers the outputs and appends the op to the current graph. After a failure nothing is appended
/// and no tensors are returned.
constexpr List<Tensor> emit_op(Ir& ir, const OpInfo& op, Span<const Tensor> inputs, const PackedAttributes& attributes = {}) {
  if (ir.failed() || !detail::check_inputs(ir, op, inputs)) return {};
  if (ir.tables.has_contexts && op.transfer && op.transfer(attributes).kind == TransferKind::stream &&
      !detail::check_stream_context(ir, text(op.name, ": a stream")))
    return {};
  List<TensorSpec> specs;
  specs.reserve(inputs.size());
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  if (!detail::check_arithmetic(ir, op, specs)) return {};
  Inference inference(ir, op, std::move(specs), attributes);
  op.infer(inference);
  if (inference.failed() || !detail::check_arithmetic(ir, op, inference.outputs())) return {};
  for (const TensorSpec& output : inference.outputs())
    if (!detail::check_spec(ir, op.name, "", output)) return {};
  int meta_shape = inference.meta_shape();
  if (meta_shape < 0 && !ir.tables.meta_shapes.empty() && !inference.outputs().empty())
    meta_shape = detail::find_meta_shape(ir, op, inputs, inference.outputs()[0].shape);
  Placement placement;
  if (ir.tables.has_placements && !ir.failed()) placement = detail::find_placement(ir, op, inputs, attributes);
  if (ir.failed()) return {};
  const NodeId index = append_node(ir, op, inputs, inference.outputs(), attributes, GraphId::none, placement);
  List<Tensor> results;
  const GraphId graph = ir.tables.current_graph;
  for (const TensorId id : ir.tables.graphs[graph].nodes[index].outputs) results.push_back({ir, graph, id});
  if (meta_shape >= 0) ir.tables.record(results[0]).meta_shape = meta_shape;
  return results;
}

/// Checks the inputs, infers the outputs and appends an op that changes input `modified` in place without an output as its alias.
/// After a failure nothing is appended and no tensors are returned.
constexpr List<Tensor> emit_modifying(Ir& ir, const OpInfo& op, Span<const Tensor> inputs, int modified,
                                      const PackedAttributes& attributes = {}) {
  auto results = emit_op(ir, op, inputs, attributes);
  if (results.empty() || !detail::check_may_change(ir, op, inputs[static_cast<std::size_t>(modified)])) return {};
  ir.tables.current().nodes.back().modified.push_back(modified);
  return results;
}

/// Returns tensor i of the list, or an invalid one of the same Ir if the list is shorter (after a failure).
[[nodiscard]] constexpr Tensor at_or_invalid(Ir& ir, const List<Tensor>& tensors, std::size_t i) {
  return i < tensors.size() ? tensors[i] : Tensor(ir, ir.tables.current_graph, TensorId::none);
}
/// Appends an op with one output and at least one input, as emit_op does, and returns the output.
constexpr Tensor emit_op_of_one(const OpInfo& op, std::initializer_list<Tensor> inputs, const PackedAttributes& attributes = {}) {
  Ir& ir = inputs.begin()->ir();
  return at_or_invalid(ir, emit_op(ir, op, {inputs.begin(), inputs.size()}, attributes), 0);
}

}  // namespace tilewright
