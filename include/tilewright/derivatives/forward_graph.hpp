#pragma once
#include <algorithm>
#include <span>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/derivatives/transposed_op.hpp"
#include "tilewright/program/conditional.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright::detail {

/// How a forward graph is made, and the order of its inputs and outputs: a group of values, then their tangents, for each group.
struct ForwardOptions {
  List<bool> active{};  ///< by input of the forward graph: whether it has a tangent
  List<bool> wanted{};  ///< by output: whether it has a tangent even if that is 0; others have one where a tangent reaches them
  std::size_t input_groups[3]{};  ///< ends of groups of inputs, in increasing order
  std::size_t output_groups[2]{};  ///< ends of groups of outputs; the last is the number of outputs that the graph has
};

/// A graph that computes another graph and the tangents of its outputs from the tangents of some inputs.
struct ForwardGraph {
  GraphId graph = GraphId::none;
  List<bool> has_tangent{};  ///< by output
};

/// Appends inputs or outputs of a forward graph, in its order: calls `value(i)` or `tangent(i)` for each.
constexpr void for_each_in_order(std::span<const std::size_t> groups, const List<bool>& has_tangent, auto&& value,
                                 auto&& tangent) {
  std::size_t begin = 0;
  for (const std::size_t end : groups) {
    for (std::size_t i = begin; i < end; ++i) value(i);
    for (std::size_t i = begin; i < end; ++i)
      if (has_tangent[i]) tangent(i);
    begin = end > begin ? end : begin;
  }
}

/// Forward graphs that exist, so that calls of one graph share one.
struct KnownForwardGraph {
  GraphId forward = GraphId::none;
  ForwardOptions options{};
  ForwardGraph result{};
};
using KnownForwardGraphs = List<KnownForwardGraph>;

/// Returns the forward graph of a graph. Defined below, because graphs call each other.
constexpr ForwardGraph forward_graph(Ir& ir, GraphId graph, const ForwardOptions& options, KnownForwardGraphs& known);

/// Builds a forward graph from the first op to the last: each op, then the tangents of its results.
class ForwardDifferentiator {
 public:
  constexpr ForwardDifferentiator(Ir& ir, GraphId forward, KnownForwardGraphs& known)
      : ir_(ir), forward_(forward), known_(known) {}

  constexpr ForwardGraph run(const ForwardOptions& options) {
    ForwardGraph result{ir_.tables.add_derived_graph(forward_, "_jvp")};
    const GraphScope scope(ir_.graph(result.graph));
    const PlacementScope anywhere(ir_, {});
    make_room_for_tensors();
    const List<TensorId> inputs = record().inputs;
    for_each_in_order(
        options.input_groups, options.active, [&](std::size_t i) { values_[inputs[i]] = add_input(inputs[i]); },
        [&](std::size_t i) { tangents_[inputs[i]] = add_input(inputs[i]); });
    for (std::size_t n = 0; n < record().nodes.size() && !ir_.failed(); ++n) append(NodeId(n));
    if (ir_.failed()) return result;
    const List<TensorId> outputs = record().outputs;
    for (std::size_t i = 0; i < options.output_groups[1]; ++i)
      result.has_tangent.push_back(tangents_[outputs[i]].valid() || (i < options.wanted.size() && options.wanted[i]));
    for_each_in_order(
        options.output_groups, result.has_tangent, [&](std::size_t i) { graph_output(value(outputs[i])); },
        [&](std::size_t i) { graph_output(tangent_or_zeros(outputs[i])); });
    return result;
  }

 private:
  constexpr const GraphRecord& record() const { return ir_.tables.record(forward_); }
  constexpr void make_room_for_tensors() {
    values_.resize(record().tensors.size());
    tangents_.resize(record().tensors.size());
  }
  constexpr Tensor add_input(TensorId tensor) {
    const TensorRecord from = record().tensors[tensor];
    const Tensor input = add_graph_input(ir_, from.spec, "", false, from.meta_shape);
    ir_.tables.record(input).placement = from.placement;
    return input;
  }
  constexpr Tensor value(TensorId tensor) {
    if (!values_[tensor].valid()) values_[tensor] = copy_constant(ir_, record().tensors[tensor]);
    return values_[tensor];
  }
  constexpr Tensor tangent_or_zeros(TensorId tensor) const {
    return tangents_[tensor].valid() ? tangents_[tensor] : zeros_like(ir_, record().tensors[tensor].spec);
  }
  constexpr bool has_tangent(TensorId tensor) const { return tangents_[tensor].valid(); }

  constexpr void append(NodeId number) {
    const Node node = record().nodes[number];
    bool is_active = false;
    for (const TensorId input : node.inputs) is_active = is_active || has_tangent(input);
    if (!is_active || node.op->differentiation == Differentiation::stops) return copy(node);
    const int outer_scope = std::exchange(ir_.tables.current_scope, node.scope);
    if (node.op == &loop_info) append_loop_of(node);
    else if (node.op == &conditional_info) append_conditional(node);
    else if (node.op == &call_info && is_by_hand(ir_, node.called_graph)) append_by_hand(number);
    else if (node.op == &call_info) append_call(node);
    else if (node.op->differentiation == Differentiation::refuses)
      fail(node, " has no derivative: a differentiable op, or detach before it,");
    else append_op(node, node.outputs.size());
    ir_.tables.current_scope = outer_scope;
  }
  constexpr void fail(const Node& node, const Text& problem) {
    ir_.fail(text("jvp of ", record().name, ": ", node.op->name, ".", node.id, " on ",
                  to_text(record().tensors[node.inputs[0]].spec), problem, " expected"));
  }
  constexpr void copy(const Node& node) {
    const auto value_of = [this](TensorId tensor) { return value(tensor); };
    append_copy(ir_, forward_, node, values_, value_of);
  }
  constexpr void append_op(const Node& node, std::size_t results) {
    copy(node);
    TransposedOp transposed(ir_, forward_, node, tangents_);
    transposed.build(results);
    transposed.append_tangents([this](TensorId tensor) { return value(tensor); },
                               [this](TensorId tensor, Tensor tangent) { tangents_[tensor] = tangent; });
  }
  /// Appends a call of a graph with a build_grad, whose tangents come from its gradient.
  constexpr void append_by_hand(NodeId number) {
    const GraphId callee = record().nodes[number].called_graph;
    if (ir_.tables.record(callee).gradient.graph == GraphId::none) {
      auto gradient = gradient_for_callers(ir_, callee, options_of(ir_, callee));
      if (ir_.failed()) return;
      ir_.tables.record(callee).gradient = std::move(gradient);
      make_room_for_tensors();
    }
    const Node node = record().nodes[number];  // may have more outputs now
    const std::size_t results = node.outputs.size() - static_cast<std::size_t>(ir_.tables.record(callee).activations);
    for (const Node& other : record().nodes)
      for (std::size_t o = results; o < node.outputs.size(); ++o)
        if (has_item(other.inputs, node.outputs[o]))
          return fail(node, text(" of ", ir_.tables.record(callee).name,
                                 ", whose gradient by hand reads inner tensors: a gradient that reads its inputs only"));
    append_op(node, results);
  }

  /// Returns which inputs of a node from `first` on have tangents.
  constexpr List<bool> active_inputs(const Node& node, std::size_t first, std::size_t count) const {
    List<bool> active;
    for (std::size_t i = first; i < first + count; ++i) active.push_back(has_tangent(node.inputs[i]));
    return active;
  }
  /// Returns the values and tangents of a node's inputs from `first` on, in the order of a forward graph.
  constexpr List<Tensor> forward_inputs(const Node& node, std::size_t first, const ForwardOptions& options) {
    List<Tensor> inputs;
    for_each_in_order(
        options.input_groups, options.active, [&](std::size_t i) { inputs.push_back(value(node.inputs[first + i])); },
        [&](std::size_t i) { inputs.push_back(tangent_or_zeros(node.inputs[first + i])); });
    return inputs;
  }
  /// Takes the outputs of a call of a forward graph as the results of a node.
  constexpr void take(const Node& node, const Outputs& outputs, const ForwardOptions& options, const ForwardGraph& made) {
    std::size_t next = 0;
    for_each_in_order(
        options.output_groups, made.has_tangent, [&](std::size_t i) { values_[node.outputs[i]] = outputs[next++]; },
        [&](std::size_t i) { tangents_[node.outputs[i]] = outputs[next++]; });
  }
  constexpr ForwardGraph made(GraphId graph, const ForwardOptions& options) { return forward_graph(ir_, graph, options, known_); }

  constexpr void append_call(const Node& node) {
    const std::size_t inputs = node.inputs.size(), outputs = node.outputs.size();
    const ForwardOptions options{active_inputs(node, 0, inputs), {}, {0, 0, inputs}, {0, outputs}};
    const ForwardGraph callee = made(node.called_graph, options);
    if (ir_.failed()) return;
    take(node, call_with_info(ir_.graph(callee.graph), forward_inputs(node, 0, options)).outputs(), options, callee);
  }
  constexpr void append_loop_of(const Node& node) {
    auto loop = unpack<LoopAttributes>(node.attributes);
    const std::size_t inputs = node.inputs.size(), outputs = node.outputs.size(),
                      carried = static_cast<std::size_t>(loop.carried), sliced = carried + static_cast<std::size_t>(loop.sliced);
    ForwardOptions options{active_inputs(node, 0, inputs), {}, {carried, sliced, inputs}, {carried, outputs}};
    while (spread(node.called_graph, options.active, carried)) continue;
    for (std::size_t i = 0; i < carried; ++i) options.wanted.push_back(options.active[i]);
    const ForwardGraph body = made(node.called_graph, options);
    if (ir_.failed()) return;
    for (std::size_t i = 0; i < sliced; ++i)
      if (options.active[i]) ++(i < carried ? loop.carried : loop.sliced);
    take(node, append_loop(ir_.graph(body.graph), loop, forward_inputs(node, 0, options)).outputs(), options, body);
  }
  /// Gives carried inputs tangents whose outputs may get some. Returns whether there is a new one.
  constexpr bool spread(GraphId body, List<bool>& active, std::size_t carried) const {
    const GraphRecord& called = ir_.tables.record(body);
    List<bool, TensorId> reached(called.tensors.size(), false);
    for (std::size_t i = 0; i < active.size(); ++i) reached[called.inputs[i]] = active[i];
    for (const Node& node : called.nodes) {
      bool is_reached = false;
      for (const TensorId input : node.inputs) is_reached = is_reached || reached[input];
      if (!is_reached || node.op->differentiation == Differentiation::stops) continue;
      for (const TensorId output : node.outputs) reached[output] = is_floating_point(called.tensors[output].spec.dtype);
    }
    bool is_new = false;
    for (std::size_t i = 0; i < carried; ++i)
      if (reached[called.outputs[i]] && !active[i]) is_new = active[i] = true;
    return is_new;
  }
  constexpr void append_conditional(const Node& node) {
    const auto then_inputs = static_cast<std::size_t>(unpack<ConditionalAttributes>(node.attributes).then_inputs);
    const std::size_t outputs = node.outputs.size();
    List<bool> wanted;
    for (const TensorId output : node.outputs) wanted.push_back(is_floating_point(record().tensors[output].spec.dtype));
    ForwardOptions options;
    ForwardGraph last;
    const auto make_branch = [&](GraphId graph, std::size_t first, std::size_t inputs) {
      options = {active_inputs(node, first, inputs), wanted, {0, 0, inputs}, {0, outputs}};
      last = made(graph, options);
      Branch branch{ir_.graph(last.graph)};
      for (const Tensor& input : forward_inputs(node, first, options)) branch.inputs.push_back(input);
      return branch;
    };
    const Branch then_branch = make_branch(node.called_graph, 1, then_inputs);
    if (ir_.failed()) return;
    const Branch else_branch = make_branch(node.else_graph, 1 + then_inputs, node.inputs.size() - 1 - then_inputs);
    if (ir_.failed()) return;
    take(node, conditional(value(node.inputs[0]), then_branch, else_branch), options, last);
  }

  Ir& ir_;
  GraphId forward_;
  KnownForwardGraphs& known_;
  List<Tensor, TensorId> values_{};  // by forward tensor
  List<Tensor, TensorId> tangents_{};  // by forward tensor; invalid: 0
};

constexpr ForwardGraph forward_graph(Ir& ir, GraphId graph, const ForwardOptions& options, KnownForwardGraphs& known) {
  for (const KnownForwardGraph& each : known) {
    const bool is_same = each.forward == graph && each.options.active == options.active &&
                         each.options.wanted == options.wanted &&
                         std::equal(options.input_groups, options.input_groups + 3, each.options.input_groups) &&
                         std::equal(options.output_groups, options.output_groups + 2, each.options.output_groups);
    if (is_same) return each.result;
  }
  GraphId forward = graph;
  if (is_by_hand(ir, graph)) {  // of a loop or a branch: a call of it, which has the outputs that are no activations
    forward = graph_of_call(ir.graph(graph)).id();
    if (!ir.failed() && options.output_groups[1] > ir.tables.record(forward).outputs.size())
      ir.fail(text("jvp of ", ir.tables.record(graph).name,
                   ", whose gradient is by hand, in a loop with its gradient: calls in place of the loop expected"));
    if (ir.failed()) return {};
  }
  const ForwardGraph result = ForwardDifferentiator(ir, forward, known).run(options);
  known.push_back({graph, options, result});
  return result;
}

}  // namespace tilewright::detail
