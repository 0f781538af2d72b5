#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/op/gradient_context.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/program/conditional.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright::detail {

/// Appends a tensor to the outputs of its graph and of the existing calls. A loop's new output has the values of all iterations;
/// conditionals get no output.
constexpr void add_activation_output(Ir& ir, GraphId graph, TensorId tensor) {
  ir.tables.record(graph).outputs.push_back(tensor);
  ++ir.tables.record(graph).activations;
  const TensorRecord& activation = ir.tables.record(graph).tensors[tensor];
  const TensorSpec slice = activation.spec;
  const int meta_shape = activation.meta_shape;
  const Placement placement = activation.placement;
  for (const auto& [caller, node] : ir.tables.record(graph).call_sites) {
    const GraphScope scope(ir.graph(caller));
    const Node& call = ir.tables.record(caller).nodes[node];
    if (call.op == &conditional_info) continue;
    TensorSpec spec = slice;
    if (call.op == &loop_info && slice.shape.rank == max_rank) {
      ir.fail(text("autodiff of ", call.op->name, ".", call.id, ": the gradient needs ", to_text(slice),
                   " of every iteration of ", ir.tables.record(graph).name, ": at most ", max_rank - 1, " axes expected"));
      return;
    }
    if (call.op == &loop_info) spec = stacked(slice, unpack<LoopAttributes>(call.attributes).count);
    const TensorId output = ir.tables.add_tensor(
        {.spec = spec, .producer = node, .meta_shape = call.op == &loop_info ? -1 : meta_shape, .placement = placement});
    ir.tables.record(caller).nodes[node].outputs.push_back(output);
  }
}

/// Positions of a graph's tensors among its inputs or outputs.
class TensorPositions {
 public:
  constexpr TensorPositions(const List<TensorId>& list, std::size_t tensors, std::size_t first = 0) : positions_(tensors, -1) {
    for (std::size_t i = list.size(); i-- > first;) positions_[list[i]] = static_cast<int>(i);
  }
  /// Returns the first position of the tensor, or -1.
  constexpr int operator[](TensorId tensor) const { return positions_[tensor]; }

 private:
  List<int, TensorId> positions_;
};

/// Returns, for each gradient provided to a gradient graph, the number of the forward graph's output to which it belongs. Two
/// outputs may be the same tensor.
constexpr List<int> provided_outputs(const GradientRecord& gradient, const List<TensorId>& outputs) {
  List<int> result;
  std::size_t output = 0;
  for (const auto& [type, tensor] : gradient.inputs) {
    if (type != ExpectedConnectionType::FwdGrad) continue;
    while (outputs[output] != tensor) ++output;
    result.push_back(static_cast<int>(output++));
  }
  return result;
}
constexpr Tensor zeros_like(Ir& ir, const TensorSpec& spec) { return ir.constant(List<double>{0}, spec.shape, spec.dtype); }

/// Returns the outputs of a called graph whose gradients a further gradient graph takes: none if no gradient reaches an
/// activation. `reached(output)`: whether a gradient reaches an output of the call.
constexpr List<int> further_outputs(const GraphRecord& called, auto&& reached) {
  List<int> result;
  if (called.gradient.is_default)
    for (int output : provided_outputs(called.gradient, called.outputs))
      if (reached(output)) result.push_back(output);
  const std::size_t taken = result.size();
  for (auto o = static_cast<int>(called.outputs.size()) - called.activations; o < static_cast<int>(called.outputs.size()); ++o)
    if (reached(o)) result.push_back(o);
  if (result.size() == taken) result.clear();
  return result;
}
/// Returns a further gradient graph that takes the gradients of the given outputs, or null.
constexpr const FurtherGradient* find_further_gradient(const GraphRecord& called, const List<int>& outputs) {
  for (const FurtherGradient& each : called.further_gradients)
    if (std::all_of(outputs.begin(), outputs.end(), [&](int output) { return has_item(each.provided, output); })) return &each;
  return nullptr;
}
/// Returns the gradient graphs whose gradients add up to that of a call.
constexpr List<FurtherGradient> gradients_of_call(const GraphRecord& called, auto&& reached) {
  List<FurtherGradient> result;
  const List<int> outputs = further_outputs(called, reached);
  if (outputs.empty() || !called.gradient.is_default)
    result.push_back({provided_outputs(called.gradient, called.outputs), called.gradient});
  if (!outputs.empty()) result.push_back(*find_further_gradient(called, outputs));
  return result;
}

/// Differentiates a call: calls the gradient graph of the called graph.
constexpr void differentiate_call(GradientContext& context) {
  Ir& ir = context.ir();
  const GraphRecord& record = ir.tables.record(context.node().called_graph);
  const TensorPositions input_of(record.inputs, record.tensors.size()), output_of(record.outputs, record.tensors.size());
  const auto gradients = gradients_of_call(record, [&](int output) { return context.has_output_gradient(output); });
  for (const auto& [provided, callee] : gradients) {
    List<Tensor> arguments;
    arguments.reserve(callee.inputs.size());
    for (int output : provided) arguments.push_back(context.output_gradient(output));
    for (const auto& [type, tensor] : callee.inputs) {
      if (type == ExpectedConnectionType::FwdGrad) continue;
      if (input_of[tensor] >= 0) arguments.push_back(context.input(input_of[tensor]));
      else arguments.push_back(context.output(output_of[tensor]));
    }
    const auto results = call_with_info(ir.graph(callee.graph), arguments).outputs();
    for (std::size_t i = 0; i < callee.outputs.size(); ++i) context.input_gradient(input_of[callee.outputs[i]], results[i]);
  }
}

/// Adds the carried activations that a loop's gradient needs to the loop's outputs, with the values of all iterations. Other
/// activations are inner tensors of its graph, and already outputs.
constexpr void keep_iterations(Ir& ir, const Node& loop, const GradientRecord& gradient) {
  const GraphId body = loop.called_graph;
  const auto carried = static_cast<std::size_t>(unpack<LoopAttributes>(loop.attributes).carried);
  for (const auto& [type, tensor] : gradient.inputs) {
    const GraphRecord& record = ir.tables.record(body);
    const TensorPositions input_of(record.inputs, record.tensors.size()), kept_at(record.outputs, record.tensors.size(), carried);
    const bool is_given = input_of[tensor] >= static_cast<int>(carried);
    if (type == ExpectedConnectionType::Fwd && !is_given && kept_at[tensor] < 0) add_activation_output(ir, body, tensor);
  }
}

/// A gradient that the gradient of a loop carries from one iteration to the previous one.
struct CarriedGradient {
  int input = -1;  ///< of the loop's graph: the input whose gradient it is
  Tensor parent{};  ///< value after the last iteration, in the graph that contains the loop's gradient
  Tensor inner{};  ///< input for it in the graph of one iteration
};
/// A gradient of each iteration's value of an output.
struct LoopOutputGradient {
  int output = -1;  ///< of the loop's graph
  Tensor parent{};  ///< all slices
  Tensor inner{};
};
/// A forward value that an iteration needs, in the order of the gradient graph's inputs.
struct LoopActivation {
  TensorId tensor = TensorId::none;  ///< of the loop's graph
  bool is_slice = false;  ///< whether each iteration has its own; otherwise all share one
  Tensor parent{};        ///< the value, or all slices
  Tensor inner{};
};

/// Builds the gradient of a loop: a loop from the last iteration to the first. It carries the gradients of carried tensors, and
/// sums those of inputs that are equal for all iterations. The activations are slices of the values that the loop kept. A loop
/// that is itself such a gradient also has inputs that are slices: each iteration returns the gradients of its own.
class LoopGradient {
 public:
  constexpr explicit LoopGradient(GradientContext& context)
      : context_(context),
        ir_(context.ir()),
        body_(context.node().called_graph),
        loop_(context.attributes<LoopAttributes>()),
        record_(ir_.tables.record(body_)),
        gradient_(gradients_of_call(record_, [&](int output) { return is_reached(output); }).back()),
        input_of_(record_.inputs, record_.tensors.size()) {}

  constexpr void run() {
    const Graph graph(ir_, ir_.tables.add_derived_graph(body_, "_bwd_loop"));
    find_carried();
    find_slices();
    find_activations();
    build_iteration(graph);
    if (ir_.failed()) return;
    LoopAttributes backward{loop_.count, static_cast<std::int64_t>(carried_.size()), 0, 1 - loop_.reversed};
    List<Tensor> parents;
    for (const CarriedGradient& gradient : carried_) parents.push_back(gradient.parent);
    for (const LoopOutputGradient& gradient : given_) parents.push_back(gradient.parent);
    backward.sliced = static_cast<std::int64_t>(given_.size());
    for (const std::size_t i : in_order_) {
      parents.push_back(activations_[i].parent);
      backward.sliced += activations_[i].is_slice ? 1 : 0;
    }
    const auto results = append_loop(graph, backward, parents).outputs();
    for (std::size_t i = 0; i < carried_.size(); ++i)
      context_.input_gradient(carried_[i].input, ops::cast(results[i], input_spec(carried_[i].input).dtype));
    for (std::size_t i = 0; i < sliced_.size(); ++i) context_.input_gradient(sliced_[i], results[carried_.size() + i]);
  }

 private:
  constexpr const GradientRecord& callee() const { return gradient_.record; }
  constexpr TensorSpec spec_of(TensorId tensor) const { return record_.tensors[tensor].spec; }
  constexpr TensorSpec input_spec(int input) const { return spec_of(record_.inputs[static_cast<std::size_t>(input)]); }
  /// Returns the spec of the carried gradient of an input. Sums over all iterations are float32 for half precision.
  constexpr TensorSpec carried_spec(int input) const {
    TensorSpec spec = input_spec(input);
    if (!is_carried(input)) spec.dtype = computed_dtype(spec.dtype);
    return spec;
  }
  /// Returns whether the loop carries the input; true for -1, an inner tensor.
  constexpr bool is_carried(int input) const { return input < loop_.carried; }
  constexpr bool is_slice(int input) const { return !is_carried(input) && input < loop_.carried + loop_.sliced; }
  /// Returns whether a gradient reaches an output in some iteration.
  constexpr bool is_reached(int output) const { return is_carried(output) || context_.has_output_gradient(output); }

  constexpr void find_carried() {
    for (int input = 0; is_carried(input); ++input)
      if (is_floating_point(input_spec(input).dtype)) carried_.push_back({input, context_.output_gradient(input)});
    for (const TensorId tensor : callee().outputs)
      if (const int input = input_of_[tensor]; !is_carried(input) && !is_slice(input) && context_.needs(input))
        carried_.push_back({input, zeros_like(ir_, carried_spec(input))});
  }
  constexpr void find_slices() {
    for (int output : gradient_.provided)
      if (!is_carried(output) && is_reached(output)) given_.push_back({output, context_.output_gradient(output)});
    for (const TensorId tensor : callee().outputs)
      if (const int input = input_of_[tensor]; is_slice(input) && context_.needs(input)) sliced_.push_back(input);
  }
  constexpr void find_activations() {
    const TensorPositions kept_at(record_.outputs, record_.tensors.size(), static_cast<std::size_t>(loop_.carried));
    for (const auto& [type, tensor] : callee().inputs) {
      if (type != ExpectedConnectionType::Fwd) continue;
      const int input = input_of_[tensor];
      if (is_carried(input)) activations_.push_back({tensor, true, context_.output(kept_at[tensor])});
      else activations_.push_back({tensor, is_slice(input), context_.input(input)});
    }
    for (const bool slices : {true, false})
      for (std::size_t i = 0; i < activations_.size(); ++i)
        if (activations_[i].is_slice == slices) in_order_.push_back(i);
  }
  /// Builds one iteration: from the gradients of the outputs of the loop's graph to those of its inputs.
  constexpr void build_iteration(Graph graph) {
    const GraphScope scope(graph);
    for (CarriedGradient& gradient : carried_) gradient.inner = detail::add_graph_input(ir_, carried_spec(gradient.input));
    for (LoopOutputGradient& gradient : given_)
      gradient.inner = detail::add_graph_input(ir_, spec_of(record_.outputs[static_cast<std::size_t>(gradient.output)]));
    for (const std::size_t i : in_order_) activations_[i].inner = detail::add_graph_input(ir_, spec_of(activations_[i].tensor));
    const auto results = call_with_info(ir_.graph(callee().graph), iteration_arguments()).outputs();
    const TensorPositions result_of(callee().outputs, record_.tensors.size());
    const auto result = [&](int input) { return result_of[record_.inputs[static_cast<std::size_t>(input)]]; };
    for (const auto& [input, parent, inner] : carried_) {
      const int found = result(input);
      if (!is_carried(input)) graph_output(inner + ops::cast(results[static_cast<std::size_t>(found)], inner.dtype()));
      else if (found < 0) graph_output(zeros_like(ir_, input_spec(input)));
      else graph_output(results[static_cast<std::size_t>(found)]);
    }
    for (int input : sliced_) graph_output(results[static_cast<std::size_t>(result(input))]);
  }
  /// Returns the inputs of the gradient graph of the loop's graph.
  constexpr List<Tensor> iteration_arguments() {
    List<Tensor> arguments;
    const auto add_inner = [&](const auto& gradients, int output, auto number) {
      for (const auto& gradient : gradients) {
        if (gradient.*number != output) continue;
        arguments.push_back(gradient.inner);
        return true;
      }
      return false;
    };
    for (int output : gradient_.provided)
      if (!(is_carried(output) ? add_inner(carried_, output, &CarriedGradient::input)
                               : add_inner(given_, output, &LoopOutputGradient::output)))
        arguments.push_back(zeros_like(ir_, spec_of(record_.outputs[static_cast<std::size_t>(output)])));
    for (const LoopActivation& activation : activations_) arguments.push_back(activation.inner);
    return arguments;
  }

  GradientContext& context_;
  Ir& ir_;
  GraphId body_;
  LoopAttributes loop_;
  GraphRecord record_;  // a copy: graphs are added
  FurtherGradient gradient_;
  TensorPositions input_of_;
  List<CarriedGradient> carried_{};
  List<LoopOutputGradient> given_{};
  List<int> sliced_{};  // inputs that are slices and whose gradients are needed
  List<LoopActivation> activations_{};
  List<std::size_t> in_order_{};  // of activations: slices, then others, as a loop takes them
};

constexpr void differentiate_loop(GradientContext& context) {
  const auto loop = context.attributes<LoopAttributes>();
  if (loop.count > 0) return LoopGradient(context).run();
  for (int k = 0; k < loop.carried; ++k)
    if (context.needs(k)) context.input_gradient(k, context.output_gradient(k));
}

/// Calls a graph with the given inputs, then its gradient graph with the given gradients of its first outputs (the others count
/// as zero). Returns the gradient graph's outputs.
constexpr List<Tensor> call_forward_and_gradient(Ir& ir, GraphId forward, const GradientRecord& gradient,
                                                 const List<Tensor>& inputs, const List<Tensor>& output_gradients) {
  const GraphRecord record = ir.tables.record(forward);
  const auto outputs = call_with_info(ir.graph(forward), inputs).outputs();
  const TensorPositions input_of(record.inputs, record.tensors.size()), output_of(record.outputs, record.tensors.size());
  List<Tensor> arguments;
  for (int output : provided_outputs(gradient, record.outputs)) {
    const auto o = static_cast<std::size_t>(output);
    if (o < output_gradients.size() && output_gradients[o].valid()) arguments.push_back(output_gradients[o]);
    else arguments.push_back(zeros_like(ir, outputs[o].spec()));
  }
  for (const auto& [type, tensor] : gradient.inputs) {
    if (type == ExpectedConnectionType::FwdGrad) continue;
    if (input_of[tensor] >= 0) arguments.push_back(inputs[static_cast<std::size_t>(input_of[tensor])]);
    else arguments.push_back(outputs[static_cast<std::size_t>(output_of[tensor])]);
  }
  const auto results = call_with_info(ir.graph(gradient.graph), arguments).outputs();
  return {results.begin(), results.end()};
}

/// Returns whether a graph, or a graph below it, has ops whose side effect must not happen twice.
constexpr bool has_side_effects(const Ir& ir, GraphId graph) {
  return any_node(ir, graph, [](const Node& node) { return node.op->has_side_effect && !node.op->may_repeat; });
}

/// Differentiates a conditional by a conditional: each branch recomputes its graph, then the gradients of its inputs. It returns
/// zeros for the inputs of the other branch.
constexpr void differentiate_conditional(GradientContext& context) {
  Ir& ir = context.ir();
  const Node& node = context.node();
  const auto then_inputs = static_cast<int>(context.attributes<ConditionalAttributes>().then_inputs);
  List<int> wanted;
  for (int i = 1; i < context.input_count(); ++i)
    if (context.needs(i)) wanted.push_back(i);
  List<Tensor> output_gradients;  // of the outputs of floating point
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    if (is_floating_point(context.output_spec(static_cast<int>(o)).dtype))
      output_gradients.push_back(context.output_gradient(static_cast<int>(o)));

  const auto make_branch = [&](GraphId forward, int first, int count) {
    const GradientRecord gradient = ir.tables.record(forward).gradient;
    if (has_side_effects(ir, forward))
      ir.fail(text("autodiff of ", node.op->name, ".", node.id, ": ", ir.tables.record(forward).name,
                   ", which its gradient computes again, has side effects: ops without side effects expected"));
    Branch branch{Graph(ir, ir.tables.add_derived_graph(forward, "_bwd_branch"))};
    for (const Tensor& tensor : output_gradients) branch.inputs.push_back(tensor);
    for (int i = first; i < first + count; ++i) branch.inputs.push_back(context.input(i));
    const GraphScope scope(branch.graph);
    List<Tensor> gradients, inputs;
    for (std::size_t o = 0, next = 0; o < node.outputs.size(); ++o) {
      const TensorSpec spec = context.output_spec(static_cast<int>(o));
      if (is_floating_point(spec.dtype)) gradients.push_back(detail::add_graph_input(ir, branch.inputs[next++].tensor->spec()));
      else gradients.push_back(Tensor::invalid(ir));
    }
    for (int i = first; i < first + count; ++i) inputs.push_back(detail::add_graph_input(ir, context.input_spec(i)));
    if (ir.failed()) return branch;
    const auto results = call_forward_and_gradient(ir, forward, gradient, inputs, gradients);
    const TensorPositions result_of(gradient.outputs, ir.tables.record(forward).tensors.size());
    for (int i : wanted) {
      int result = -1;
      if (i >= first && i < first + count)
        result = result_of[ir.tables.record(forward).inputs[static_cast<std::size_t>(i - first)]];
      if (result < 0) graph_output(zeros_like(ir, context.input_spec(i)));
      else graph_output(results[static_cast<std::size_t>(result)]);
    }
    return branch;
  };
  const Branch then_branch = make_branch(node.called_graph, 1, then_inputs);
  const Branch else_branch = make_branch(node.else_graph, 1 + then_inputs, context.input_count() - 1 - then_inputs);
  if (ir.failed()) return;
  const auto results = conditional(context.input(0), then_branch, else_branch);
  for (std::size_t i = 0; i < wanted.size(); ++i) context.input_gradient(wanted[i], results[i]);
}

}  // namespace tilewright::detail
