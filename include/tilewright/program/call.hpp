#pragma once

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/program/call_inputs.hpp"

namespace tilewright {

namespace detail {
/// Returns the info of an op that calls graphs: it has a name and no code.
constexpr OpInfo calling_op(const OpTag* tag, std::string_view name) {
  OpInfo info;
  info.tag = tag;
  info.name = name;
  info.differentiation = Differentiation::rule;
  return info;
}
inline constexpr OpTag call_tag{};
inline constexpr OpInfo call_info = calling_op(&call_tag, "Call");

/// Returns whether the graph is `caller`, or calls it directly or through others.
constexpr bool leads_to(const Ir& ir, GraphId graph, GraphId caller) {
  if (graph == caller || ir.tables.record(caller).call_sites.empty())
    return graph == caller;  // a graph under construction has no calls
  return any_call(ir, caller, [graph](GraphId above, NodeId) { return above == graph; });
}

/// Returns the caller's tensor for every input of the graph, in order. Fails for missing, extra, repeated or unfit tensors.
constexpr List<Tensor> bind_inputs(Ir& ir, Graph graph, Span<const Tensor> positional, const TensorMap& args) {
  const auto inputs = graph.inputs();
  List<int, TensorId> position(ir.tables.record(graph.id()).tensors.size(), -1);
  for (std::size_t i = 0; i < inputs.size(); ++i) position[inputs[i].number()] = static_cast<int>(i);
  List<Tensor> parents(inputs.size());
  const auto fail_without_tensor = [&](const Text& input) {
    ir.fail(text("call of ", graph.name(), ": a Tensor() of no graph for input ", input, ": a tensor expected"));
    return List<Tensor>();
  };
  std::size_t next = 0;
  for (const Tensor& tensor : positional) {
    if (!tensor.valid()) return fail_without_tensor(text(next));
    if (next == inputs.size()) {
      ir.fail(
          text("call of ", graph.name(), ": ", positional.size(), " positional inputs: at most ", inputs.size(), " expected"));
      return {};
    }
    parents[next++] = tensor;
  }
  for (const auto& [input, tensor] : args) {
    if (!tensor.valid()) return fail_without_tensor(to_text(input));
    const int found = graph.contains(input) ? position[input.number()] : -1;
    const auto at = static_cast<std::size_t>(found);
    if (found < 0) {
      ir.fail(text("call of ", graph.name(), ": ", to_text(input), " is not one of its inputs: an input of ", graph.name(),
                   " expected"));
      return {};
    }
    if (parents[at].valid()) {
      ir.fail(text("call of ", graph.name(), ": input ", to_text(input), " is given twice: once expected"));
      return {};
    }
    parents[at] = tensor;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!parents[i].valid()) {
      ir.fail(text("call of ", graph.name(), ": input ", i, ", ", to_text(inputs[i]), ", is missing: all ", inputs.size(),
                   " inputs must be given or bound",
                   graph.name().ends_with("_bwd") ? "; the first are gradients of outputs: call(dy, inputs_dict)" : ""));
      return {};
    }
    if (parents[i].spec() != inputs[i].spec()) {
      ir.fail(text("call of ", graph.name(), ": ", to_text(parents[i].spec()), " for input ", i, ", ", to_text(inputs[i]), ": ",
                   to_text(inputs[i].spec()), " expected"));
      return {};
    }
  }
  return parents;
}

/// Checks that the current graph may call the graph. Fails if the call would be a recursion, or if streams would move outside of
/// runs.
constexpr bool check_call(Ir& ir, Graph graph) {
  if (!leads_to(ir, graph.id(), ir.tables.current_graph))
    return !ir.tables.has_contexts || !uses_streams(ir, graph.id()) ||
           check_stream_context(ir, text("call of ", graph.name(), ": its streams"));
  const bool is_itself = graph.id() == ir.tables.current_graph;
  const std::string_view caller = is_itself ? "itself" : ir.tables.current().name.view(), which = is_itself ? "" : ", which ",
                         name = is_itself ? "" : graph.name(), calls = is_itself ? "" : " calls";
  ir.fail(text("call of ", graph.name(), ": from ", caller, which, name, calls, ": a call without recursion expected"));
  return false;
}
/// Records the call in the called graph. Also records which of the call's inputs it changes: those passed to inputs by reference.
/// Input `first_input` of the node is passed to the graph's input 0.
constexpr void add_call_site(Ir& ir, GraphId called, NodeId node, int first_input = 0) {
  if (ir.tables.has_placements) place_call(ir, ir.tables.current().nodes[node]);
  ir.tables.record(called).call_sites.push_back({ir.tables.current_graph, node});
  const auto inputs = static_cast<int>(ir.tables.record(called).inputs.size());
  for (int input : ir.tables.record(called).by_reference)
    modify_input(ir, ir.tables.current_graph, ir.tables.current().nodes[node], first_input + input, first_input, inputs);
}
constexpr List<TensorSpec> specs_of(const List<Tensor>& tensors) {
  List<TensorSpec> specs;
  specs.reserve(tensors.size());
  for (const Tensor& tensor : tensors) specs.push_back(tensor.spec());
  return specs;
}
}  // namespace detail

/// Calls a graph from the current graph. Inputs are positional, or found by the graph's input tensors in `args`. Every input must
/// be passed once, with its shape and dtype. Recursion is an error, also through other graphs. In-place changes of inputs stay
/// inside the graph, except for inputs by reference (TensorByRef).
constexpr CallSiteInfo call_with_info(Graph graph, Span<const Tensor> inputs, const TensorMap& args = {}) {
  Ir& ir = graph.ir();
  if (ir.failed() || !detail::check_call(ir, graph)) return {ir};
  const auto parents = detail::bind_inputs(ir, graph, inputs, args);
  if (ir.failed() || !detail::check_inputs(ir, detail::call_info, parents)) return {ir};
  const NodeId node = append_node(ir, detail::call_info, parents, detail::specs_of(graph.outputs()), {}, graph.id());
  detail::add_call_site(ir, graph.id(), node);
  return {ir, ir.tables.current_graph, node};
}
constexpr CallSiteInfo call_with_info(Graph graph, std::initializer_list<Tensor> inputs, const TensorMap& args = {}) {
  return call_with_info(graph, Span<const Tensor>(inputs.begin(), inputs.size()), args);
}
/// Calls a graph with the tensors of a list as its positional inputs: `call_with_info(graph, weights)`.
constexpr CallSiteInfo call_with_info(Graph graph, const detail::TensorRange auto& inputs, const TensorMap& args = {}) {
  return call_with_info(graph, Span<const Tensor>(detail::list_of(inputs)), args);
}
constexpr CallSiteInfo call_with_info(Graph graph, Tensor input, const TensorMap& args = {}) {
  return call_with_info(graph, {input}, args);
}

/// Calls a graph from the current graph with numbers and lists of tensors among the inputs: `call(graph, {x, weights, 2})`. A
/// number becomes a constant of the dtype of the graph's input, and each tensor of a list is one input. Other rules and errors
/// are those of call_with_info for tensors.
template <std::size_t count>
constexpr CallSiteInfo call_with_info(Graph graph, const CallInput (&inputs)[count], const TensorMap& args = {}) {
  return call_with_info(graph, detail::tensors_of(graph, inputs), args);
}

/// Calls a graph and returns the outputs of the call. Arguments and errors are those of call_with_info.
constexpr Outputs call(Graph graph, std::initializer_list<Tensor> inputs, const TensorMap& args = {}) {
  return call_with_info(graph, inputs, args).outputs();
}
constexpr Outputs call(Graph graph, Tensor input, const TensorMap& args = {}) {
  return call_with_info(graph, {input}, args).outputs();
}
constexpr Outputs call(Graph graph, const detail::TensorRange auto& inputs, const TensorMap& args = {}) {
  return call_with_info(graph, inputs, args).outputs();
}
template <std::size_t count>
constexpr Outputs call(Graph graph, const CallInput (&inputs)[count], const TensorMap& args = {}) {
  return call_with_info(graph, inputs, args).outputs();
}

namespace ops {
using tilewright::call;
using tilewright::call_with_info;
}  // namespace ops

}  // namespace tilewright
