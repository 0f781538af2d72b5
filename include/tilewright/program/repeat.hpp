#pragma once
#include <initializer_list>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/program/call.hpp"

namespace tilewright {

namespace detail {
inline constexpr OpInfo loop_info = calling_op(&loop_tag, "Loop");

/// Returns the spec of a tensor that has one slice for each of `count` iterations.
constexpr TensorSpec stacked(const TensorSpec& slice, std::int64_t count) {
  TensorSpec result{{count}, slice.dtype};
  for (int axis = 0; axis < slice.shape.rank; ++axis) result.shape.push_back(slice.shape[axis]);
  return result;
}

/// Appends a Loop of the graph with the caller's tensors as its inputs.
constexpr CallSiteInfo append_loop(Graph graph, const LoopAttributes& loop, const List<Tensor>& parents) {
  Ir& ir = graph.ir();
  List<TensorSpec> outputs = specs_of(graph.outputs());
  for (auto i = static_cast<std::size_t>(loop.carried); i < outputs.size(); ++i) outputs[i] = stacked(outputs[i], loop.count);
  const NodeId node = append_node(ir, loop_info, parents, outputs, pack(loop), graph.id());
  add_call_site(ir, graph.id(), node);
  return {ir, ir.tables.current_graph, node};
}
}  // namespace detail

/// Calls a graph `count` times in sequence. The graph's first N inputs are carried: its N outputs, of the same shapes and dtypes,
/// replace them in the next iteration. The other inputs are equal in all iterations, except that changes to inputs by reference
/// persist. Returns the outputs of the last iteration, or the first N inputs if `count` is 0. Inputs are passed as for call.
/// Errors: a negative count, or one above 2^48; more outputs than inputs; outputs that do not fit the inputs; a carried input by
/// reference.
constexpr CallSiteInfo repeat_with_info(Graph graph, std::int64_t count, Span<const Tensor> inputs, const TensorMap& args = {}) {
  Ir& ir = graph.ir();
  if (ir.failed() || !detail::check_call(ir, graph)) return {ir};
  const auto ins = graph.inputs(), outs = graph.outputs();
  const std::size_t carried = outs.size() - static_cast<std::size_t>(ir.tables.record(graph.id()).activations);
  if (count < 0 || static_cast<double>(count) > most_runs) {
    ir.fail(text("repeat of ", graph.name(), ": ", count, " times: a count from 0 to 2^48 expected"));
  } else if (carried > ins.size()) {
    ir.fail(text("repeat of ", graph.name(), ": ", carried, " outputs and ", ins.size(),
                 " inputs: at least as many inputs as outputs, which are the first inputs of the next iteration, expected"));
  } else {
    for (std::size_t i = 0; i < carried; ++i)
      if (outs[i].spec() != ins[i].spec())
        ir.fail(text("repeat of ", graph.name(), ": output ", i, " ", to_text(outs[i].spec()), " for input ", i, " ",
                     to_text(ins[i].spec()), " of the next iteration: equal shapes and dtypes expected"));
    for (int input : ir.tables.record(graph.id()).by_reference)
      if (static_cast<std::size_t>(input) < carried)
        ir.fail(text("repeat of ", graph.name(), ": input ", input, ", ", to_text(ins[static_cast<std::size_t>(input)]),
                     ", is by reference and output ", input,
                     " replaces it in the next iteration: inputs by reference after those that outputs replace expected"));
  }
  if (ir.failed()) return {ir};
  const auto parents = detail::bind_inputs(ir, graph, inputs, args);
  if (ir.failed() || !detail::check_inputs(ir, detail::loop_info, parents)) return {ir};
  return detail::append_loop(graph, {.count = count, .carried = static_cast<std::int64_t>(carried)}, parents);
}
constexpr CallSiteInfo repeat_with_info(Graph graph, std::int64_t count, std::initializer_list<Tensor> inputs,
                                        const TensorMap& args = {}) {
  return repeat_with_info(graph, count, Span<const Tensor>(inputs.begin(), inputs.size()), args);
}
/// Calls a graph `count` times with the tensors of a list as its positional inputs: `repeat_with_info(graph, 3, tensors)`.
constexpr CallSiteInfo repeat_with_info(Graph graph, std::int64_t count, const detail::TensorRange auto& inputs,
                                        const TensorMap& args = {}) {
  return repeat_with_info(graph, count, Span<const Tensor>(detail::list_of(inputs)), args);
}
constexpr CallSiteInfo repeat_with_info(Graph graph, std::int64_t count, Tensor input, const TensorMap& args = {}) {
  return repeat_with_info(graph, count, {input}, args);
}

/// Calls a graph `count` times with numbers and lists of tensors among the inputs: `repeat(graph, 3, {x, weights, 2})`. A number
/// becomes a constant of the dtype of the graph's input, and each tensor of a list is one input. Other rules and errors are those
/// of repeat_with_info for tensors.
template <std::size_t count_of_inputs>
constexpr CallSiteInfo repeat_with_info(Graph graph, std::int64_t count, const CallInput (&inputs)[count_of_inputs],
                                        const TensorMap& args = {}) {
  return repeat_with_info(graph, count, detail::tensors_of(graph, inputs), args);
}

/// Calls a graph `count` times and returns the outputs. Arguments and errors are those of repeat_with_info.
constexpr Outputs repeat(Graph graph, std::int64_t count, std::initializer_list<Tensor> inputs, const TensorMap& args = {}) {
  return repeat_with_info(graph, count, inputs, args).outputs();
}
constexpr Outputs repeat(Graph graph, std::int64_t count, Tensor input, const TensorMap& args = {}) {
  return repeat_with_info(graph, count, {input}, args).outputs();
}
constexpr Outputs repeat(Graph graph, std::int64_t count, const detail::TensorRange auto& inputs, const TensorMap& args = {}) {
  return repeat_with_info(graph, count, inputs, args).outputs();
}
template <std::size_t count_of_inputs>
constexpr Outputs repeat(Graph graph, std::int64_t count, const CallInput (&inputs)[count_of_inputs],
                         const TensorMap& args = {}) {
  return repeat_with_info(graph, count, inputs, args).outputs();
}

namespace ops {
using tilewright::repeat;
using tilewright::repeat_with_info;
}  // namespace ops

}  // namespace tilewright
