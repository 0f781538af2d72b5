#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/op/gradient_context.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/program/call.hpp"
#include "tilewright/transform/calls/called_gradients.hpp"
#include "tilewright/transform/calls/callee_gradients.hpp"
#include "tilewright/transform/composed_forms.hpp"
#include "tilewright/transform/gradient_rules.hpp"
#include "tilewright/transform/overwritten.hpp"

namespace tilewright {

namespace detail {

/// Builds one gradient graph from the last forward op to the first.
class Differentiator final : public GradientContext::Builder {
 public:
  constexpr Differentiator(Ir& ir, GraphId forward) : ir_(ir), forward_(forward) {}

  constexpr GradientRecord run(const AutodiffOptions& options) {
    // no conditional operators: GCC 12 destroys their temporaries twice in constant expressions
    List<TensorId> provided = default_provided(), required = record().inputs;
    if (options.grads_provided) provided = ids(*options.grads_provided, "grads_provided");
    if (options.grads_required) required = ids(*options.grads_required, "grads_required");
    if (ir_.failed()) return {};
    List<TensorId> kept = provided;
    for (const TensorId tensor : required) kept.push_back(tensor);
    const bool is_by_hand = has_build_grad(ir_, forward_, options.method);
    if (!is_by_hand) {
      replace_composed_forms(ir_, forward_, kept);
      differentiate_callees(ir_, forward_);
    }
    if (ir_.failed()) return {};
    find_ops_in_place();
    find_needed(required);
    if (!is_by_hand && FurtherGradients(ir_, forward_).run(provided, needed_, uses_)) find_needed(required);
    if (has_op_in_place_) overwritten_ = find_overwritten(ir_, forward_);
    if (ir_.failed()) return {};
    record().is_differentiated = true;
    result_.graph = ir_.tables.add_derived_graph(forward_, "_bwd");
    const auto count = record().tensors.size();
    gradients_.resize(count);
    activations_.resize(count);
    connected_.assign(count, false);
    parts_of_.assign(count, -1);
    for (const TensorId tensor : record().inputs) connected_[tensor] = true;
    for (const TensorId tensor : record().outputs) connected_[tensor] = true;

    const GraphScope scope(ir_.graph(result_.graph));
    const PlacementScope anywhere(ir_, {});
    List<Tensor> given;
    for (const TensorId tensor : provided) given.push_back(add_graph_input(ExpectedConnectionType::FwdGrad, tensor));
    if (is_by_hand) {
      run_build_grad(given);
    } else {  // a tensor that is an output twice has two gradients
      for (std::size_t i = 0; i < given.size(); ++i) add_gradient(provided[i], given[i]);
      for (auto n = record().nodes.size(); n-- > 0 && !ir_.failed();) differentiate_node(NodeId(n));
    }
    if (ir_.failed()) return {};
    place_added();
    for (const TensorId tensor : required) {
      join_parts(tensor);
      if (gradient(tensor)) {
        graph_output(gradients_[tensor]);
        result_.outputs.push_back(tensor);
      } else if (options.grads_required && !options.skips_unreached) {
        ir_.fail(text("autodiff of ", record().name, ": no gradient reaches ", to_text(forward_tensor(tensor)),
                      ": tensors that the provided outputs depend on through differentiable ops expected in grads_required"));
      }
    }
    return result_;
  }

  constexpr bool needs_gradient(TensorId tensor) const override { return needed_[tensor]; }
  constexpr const Tensor* gradient(TensorId tensor) const override {
    return gradients_[tensor].valid() ? &gradients_[tensor] : nullptr;
  }
  constexpr void add_gradient(TensorId tensor, Tensor gradient) override {
    if (is_half(gradient.dtype())) add_gradient_part(tensor, {gradient}, sum_of_halves);
    else add_to_gradient(tensor, gradient);
  }
  constexpr void add_gradient_part(TensorId tensor, const GradientPart& part, JoinRule join) override {
    int& first = parts_of_[tensor];
    make_room(parts_);
    parts_.push_back({part, join, first});
    first = static_cast<int>(parts_.size()) - 1;
  }
  /// Returns the value of a forward tensor in the gradient graph. Constants are copied, and views are rebuilt; any other tensor
  /// becomes an input of the gradient graph. An inner tensor also becomes an output of the forward graph.
  constexpr Tensor activation(TensorId tensor) override {
    Tensor& known = activations_[tensor];
    if (known.valid()) return known;
    const TensorRecord info = record().tensors[tensor];
    if (info.kind == TensorKind::constant)
      return known = {ir_, result_.graph, ir_.tables.add_tensor({info.spec, TensorKind::constant, info.payload})};
    const bool connected = connected_[tensor];
    if (!connected && info.producer != NodeId::none) {
      const Node producer = record().nodes[info.producer];
      if (producer.op->view) {
        const PlacementScope placement = where(tensor);
        const Tensor input = activation(producer.inputs[0]);
        return known = at_or_invalid(ir_, emit_op(ir_, *producer.op, {&input, 1}, producer.attributes), 0);
      }
    }
    if (has_op_in_place_ && overwritten_.by[tensor] != NodeId::none) {
      const Node& writer = record().nodes[overwritten_.by[tensor]];
      ir_.fail(text("autodiff of ", record().name, ": a gradient needs ", to_text(forward_tensor(tensor)), ", which ",
                    writer.op->name, ".", writer.id, " overwrites: an op that is not in place expected"));
      return Tensor::invalid(ir_);
    }
    if (!connected) {
      add_activation_output(ir_, forward_, tensor);
      connected_[tensor] = true;
    }
    return known = add_graph_input(ExpectedConnectionType::Fwd, tensor);
  }
  /// Adds the op to the forward graph if neither that graph nor the gradient graph needs the op's inputs for anything else.
  constexpr Tensor added_activation(const OpInfo& op, const Node& node) override {
    if (!ir_.tables.rewrites.adds_activations || has_op_in_place_ || !may_move_nodes(ir_, forward_)) return {};
    for (const TensorId input : node.inputs) {
      const NodeId producer = record().tensors[input].producer;
      if (connected_[input] || uses_[input] > 1 || producer == NodeId::none) return {};
      if (!record().nodes[producer].op->gradient_needs_no_result) return {};
    }
    const Tensor added = emit_forward(op, node);
    if (ir_.failed()) return added;
    added_.push_back(differentiated_);
    gradients_.push_back({});
    activations_.push_back({});
    connected_.push_back(false);
    parts_of_.push_back(-1);
    return activation(added.number());
  }

 private:
  constexpr GraphRecord& record() const { return ir_.tables.record(forward_); }
  constexpr Tensor forward_tensor(TensorId tensor) const { return {ir_, forward_, tensor}; }

  /// Places new ops where a forward tensor is.
  constexpr PlacementScope where(TensorId tensor) const { return {ir_, record().tensors[tensor].placement}; }

  constexpr List<TensorId> ids(const List<Tensor>& tensors, std::string_view what) const {
    List<TensorId> result;
    for (const Tensor& tensor : tensors) {
      if (!tensor.valid()) continue;
      if (tensor.graph_id() != forward_)
        ir_.fail(text("autodiff of ", record().name, ": ", to_text(tensor), " in ", what, ": tensors of that graph expected"));
      result.push_back(tensor.number());
    }
    return result;
  }
  constexpr List<TensorId> default_provided() const {
    List<TensorId> result;
    // activations are there for other gradient graphs
    const std::size_t own = record().outputs.size() - static_cast<std::size_t>(record().activations);
    for (std::size_t i = 0; i < own; ++i)
      if (const TensorId tensor = record().outputs[i]; is_floating_point(record().tensors[tensor].spec.dtype))
        result.push_back(tensor);
    return result;
  }
  constexpr void find_ops_in_place() {
    for (const Node& node : record().nodes) has_op_in_place_ = has_op_in_place_ || node.op->modifies >= 0;
  }
  /// Builds the gradient graph by the build_grad of the graph's module.
  constexpr void run_build_grad(const List<Tensor>& provided) {
    const GradientRule& rule = *find_gradient_rule(ir_, forward_);
    for (const auto& [tensor, gradient] : rule.build_grad(*this, provided)) add_gradient(tensor, gradient);
  }
  /// Marks the tensors whose gradients lead to a required one, and counts the readers of each.
  constexpr void find_needed(const List<TensorId>& required) {
    needed_.assign(record().tensors.size(), false);
    for (const TensorId tensor : required) needed_[tensor] = is_floating_point(record().tensors[tensor].spec.dtype);
    uses_.assign(record().tensors.size(), 0);
    for (const Node& node : record().nodes) {
      for (const TensorId input : node.inputs) ++uses_[input];
      if (node.op->differentiation == Differentiation::stops) continue;
      bool reached = false;
      for (const TensorId input : node.inputs) reached = reached || needs_gradient(input);
      if (!reached) continue;
      for (const TensorId output : node.outputs)
        if (is_floating_point(record().tensors[output].spec.dtype)) needed_[output] = true;
    }
  }
  constexpr void differentiate_node(NodeId index) {
    const Node node = record().nodes[index];
    bool reached = false, needed = false;
    const std::size_t first = ir_.tables.current().nodes.size();
    for (const TensorId output : node.outputs) {
      join_parts(output);
      reached = reached || gradient(output);
    }
    for (const TensorId input : node.inputs) needed = needed || needs_gradient(input);
    if (!reached || !needed || node.op->differentiation == Differentiation::stops) return;
    if (node.op->differentiation == Differentiation::refuses) {
      const bool is_of_gradients = record().name.view().find("_bwd") != std::string_view::npos;
      Text place = record().name;
      if (node.scope >= 0) {
        const std::string_view prefix = ir_.tables.name_scopes[static_cast<std::size_t>(node.scope)].view();
        place += text("/", prefix.substr(0, prefix.size() - 1));
      }
      ir_.fail(text("autodiff of ", place, ": ", node.op->name, ".", node.id, " on ",
                    to_text(record().tensors[node.inputs[0]].spec), " has no gradient",
                    is_of_gradients ? ", so no second derivative" : "", ": a differentiable op, or detach before it, expected"));
      return;
    }
    differentiated_ = index;
    GradientContext context(*this, ir_, forward_, node);
    const PlacementScope placement(ir_, node.placement);
    if (node.op == &call_info) differentiate_call(context);
    else if (node.op == &loop_info) differentiate_loop(context);
    else if (node.op == &conditional_info) differentiate_conditional(context);
    else node.op->gradient(context);
    auto& nodes = ir_.tables.current().nodes;
    for (std::size_t i = first; i < nodes.size(); ++i) nodes[NodeId(i)].scope = node.scope;
  }
  constexpr void add_to_gradient(TensorId tensor, Tensor gradient) {
    Tensor& sum = gradients_[tensor];
    const PlacementScope placement = where(tensor);
    sum = sum.valid() ? sum + gradient : gradient;
  }
  /// JoinRule for gradients of a whole tensor in half precision: adds three or more in float32 and rounds once.
  static constexpr Tensor sum_of_halves(Ir&, const TensorSpec& whole, Span<const GradientPart> parts) {
    Tensor sum = parts[0].gradient;
    if (parts.size() > 2) sum = ops::cast(sum, float32);
    for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + ops::cast(parts[i].gradient, sum.dtype());
    return ops::cast(sum, whole.dtype);
  }
  /// Adds the gradients of parts of a tensor to its gradient. All of them are known at this point.
  constexpr void join_parts(TensorId tensor) {
    int next = std::exchange(parts_of_[tensor], -1);
    while (next >= 0 && !ir_.failed()) {
      const JoinRule join = parts_[next].join;
      List<GradientPart> same;
      int others = -1;
      while (next >= 0) {
        const int after = parts_[next].next;
        if (parts_[next].join == join) {
          same.push_back(parts_[next].part);
        } else {
          parts_[next].next = others;
          others = next;
        }
        next = after;
      }
      reverse_items(same);  // in the order in which they came
      const PlacementScope placement = where(tensor);
      add_to_gradient(tensor, join(ir_, record().tensors[tensor].spec, {same.data(), same.size()}));
      next = others;
    }
  }
  /// Moves each added op behind the op that it was added for, or behind the last call, because handles of calls refer to nodes by
  /// number.
  constexpr void place_added() {
    if (added_.empty()) return;
    const auto count = record().nodes.size() - added_.size();
    std::size_t first = count;  // from which on nodes may move
    while (first > 0 && record().nodes[NodeId(first - 1)].called_graph == GraphId::none) --first;
    List<Node, NodeId> nodes = std::exchange(record().nodes, {});
    List<NodeId, NodeId> moved;
    moved.resize(nodes.size());
    const auto append = [&](NodeId number) {
      moved[number] = NodeId(record().nodes.size());
      for (const TensorId output : nodes[number].outputs) record().tensors[output].producer = moved[number];
      record().nodes.push_back(std::move(nodes[number]));
    };
    std::size_t next = added_.size();  // the last were added for the first
    for (std::size_t i = 0; i < count; ++i) {
      append(NodeId(i));
      for (; i >= first && next > 0 && added_[next - 1] <= NodeId(i); --next) append(NodeId(count + next - 1));
    }
    for (; next > 0; --next) append(NodeId(count + next - 1));
    follow_moved_nodes(ir_, forward_, moved);
  }
  constexpr Tensor emit_forward(const OpInfo& op, const Node& node) {
    const GraphScope scope(ir_.graph(forward_));
    const PlacementScope placement(ir_, node.placement);
    const int scope_outside = std::exchange(ir_.tables.current_scope, node.scope);
    List<Tensor> inputs;
    for (const TensorId input : node.inputs) inputs.push_back(forward_tensor(input));
    const Tensor result = at_or_invalid(ir_, emit_op(ir_, op, {inputs.data(), inputs.size()}, node.attributes), 0);
    ir_.tables.current_scope = scope_outside;
    return result;
  }
  constexpr Tensor add_graph_input(ExpectedConnectionType type, TensorId tensor) {
    result_.inputs.push_back({type, tensor});
    const TensorRecord info = record().tensors[tensor];
    Text name = info.name;
    if (type == ExpectedConnectionType::FwdGrad && !name.empty()) name = text("Gradient___", info.name);
    const Tensor input = detail::add_graph_input(ir_, info.spec, name.view(), false, info.meta_shape);
    ir_.tables.record(input).placement = info.placement;
    return input;
  }
  struct Part {
    GradientPart part{};
    JoinRule join = nullptr;
    int next = -1;  // of the same tensor, in parts_; -1: the last
  };

  Ir& ir_;
  GraphId forward_;
  GradientRecord result_{};
  List<bool, TensorId> needed_{};
  List<Tensor, TensorId> gradients_{};  // by forward tensor: its gradient so far, in the gradient graph; invalid: none
  List<Tensor, TensorId> activations_{};  // by forward tensor: its value in the gradient graph; invalid: not there yet
  bool has_op_in_place_ = false;
  Overwritten overwritten_{};  // of a graph with ops in place
  List<Part> parts_{};
  List<int, TensorId> parts_of_{};  // by forward tensor: the last of the parts of its gradient, in parts_; -1: none
  NodeId differentiated_{};  // the forward op that is
  List<NodeId> added_{};  // to the end of the forward graph: the op that each was added for
  List<int, TensorId> uses_{};  // by forward tensor: how often ops read it
  List<bool, TensorId> connected_{};  // by forward tensor: it is an input or output of the forward graph
};

constexpr GradientRecord differentiate(Ir& ir, GraphId forward, const AutodiffOptions& options) {
  return Differentiator(ir, forward).run(options);
}

}  // namespace detail

/// Sets whether graphs that are differentiated later also compute values that a gradient rule asks for beside an op, such as the
/// slope of a gelu (GradientContext::added_to_forward). The default is true for the host. It is false for a simulated IPU, which
/// computes ops one by one, so sharing saves nothing.
constexpr void adds_activations(Ir& ir, bool adds) { ir.tables.rewrites.adds_activations = adds; }

/// Creates a graph that computes the gradients of a graph in reverse mode. Its inputs are the provided gradients, then the
/// forward tensors that it needs. Inner tensors among these become outputs of the forward graph, also at existing calls. Each
/// called graph gets one gradient graph, and a further one for calls whose activations gradients reach. In-place ops with a
/// gradient rule are differentiated; the gradients must not need a value that a later op overwrites. Errors: an op without a
/// gradient between a required tensor and a provided gradient; an in-place op without a gradient, or a call that changes its
/// inputs, even if no gradient passes there; a value that the gradients need and that was overwritten.
///
/// If the graph is of a module with a build_grad, that makes the gradient graph, and the options may ask for it or for the other
/// method. Errors: the method build_grad without such a module; a second time without `force`.
TILEWRIGHT_KEPT constexpr GradGraphInfo&& autodiff(Graph graph, const AutodiffOptions& options = {}) {
  Ir& ir = graph.ir();
  if (ir.failed()) return detail::keep(ir, GradGraphInfo(ir, graph.id(), {.graph = GraphId::main}));
  for (const GradGraphInfo& info : options.called_graphs_grad_info)
    if (info.graph().id() != GraphId::main) detail::set_gradient(ir, info.forward_graph().id(), info.record());
  const bool is_by_hand = detail::check_method(ir, graph.id(), options);
  auto record = detail::differentiate(ir, graph.id(), options);
  if (ir.failed()) record = {.graph = GraphId::main};
  else if (is_by_hand) detail::set_gradient(ir, graph.id(), record);
  return detail::keep(ir, GradGraphInfo(ir, graph.id(), std::move(record)));
}
TILEWRIGHT_KEPT constexpr GraphWithNamedArgs&& autodiff(const GraphWithNamedArgs& graph, const AutodiffOptions& options = {}) {
  const GradGraphInfo info = autodiff(graph.graph(), options);
  return detail::keep(graph.ir(), GraphWithNamedArgs(info.graph(), {}, info));
}

constexpr List<GradGraphInfo> GradGraphInfo::all_grad_graphs() const {
  List<GradGraphInfo> result{*this};
  for (std::size_t next = 0; next < result.size(); ++next)
    for (const Graph called : Graph(result[next].forward_graph()).called_graphs()) {
      const GradientRecord& record = ir_->tables.record(called.id()).gradient;
      bool is_new = record.graph != GraphId::none;
      for (const GradGraphInfo& known : result) is_new = is_new && known.forward_graph() != called;
      if (is_new) result.push_back({*ir_, called.id(), record});
    }
  return result;
}
constexpr TensorMap GradGraphInfo::fwd_parent_ins_to_grad_parent_outs(const CallSiteInfo& forward_call,
                                                                      const CallSiteInfo& gradient_call) const {
  TensorMap result = TensorMap::of_gradients();
  if (!validate(forward_call, forward_graph(), "fwd_parent_ins_to_grad_parent_outs")) return result;
  const auto parents = parents_of(forward_call);
  for (const auto& [input, gradient] : fwd_graph_ins_to_grad_parent_outs(gradient_call)) {
    const Tensor parent = parents[input.number()];
    if (const Tensor* known = result.find(parent)) result.assign(parent, *known + gradient);
    else result.insert(parent, gradient);
  }
  return result;
}

}  // namespace tilewright
