#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/ids.hpp"
#include "tilewright/program/call.hpp"

namespace tilewright {

/// One branch of a conditional: a graph and its inputs, tensors or numbers, as for a call.
struct Branch {
  Graph graph;
  CallInputs inputs{};
  TensorMap args{};
};

namespace detail {
inline constexpr OpTag conditional_tag{};
inline constexpr OpInfo conditional_info = calling_op(&conditional_tag, "If");
}  // namespace detail

/// A conditional. Its inputs are the condition, then the inputs of the graph for true, then those of the graph for false.
class ConditionalSiteInfo : detail::Handle {
 public:
  /// Creates the info of a conditional that failed. Its tensors are invalid.
  constexpr ConditionalSiteInfo(Ir& ir) : Handle{&ir} {}
  constexpr ConditionalSiteInfo(Ir& ir, GraphId graph, NodeId node) : Handle{&ir}, graph_(graph), node_(node) {}

  constexpr bool valid() const { return node_ != NodeId::none; }
  /// Returns the graphs for true and for false.
  constexpr std::pair<Graph, Graph> called_graph() const {
    if (!valid()) return {Graph(*ir_, GraphId::main), Graph(*ir_, GraphId::main)};
    return {Graph(*ir_, node().called_graph), Graph(*ir_, node().else_graph)};
  }
  constexpr List<Tensor> inputs() const { return handles(true); }
  constexpr Outputs outputs() const { return valid() ? Outputs(*ir_, graph_, node_) : Outputs(*ir_); }
  constexpr Tensor output(int i) const { return outputs()[static_cast<std::size_t>(i)]; }

  /// Returns the index of the conditional's input for input i of a branch's graph.
  constexpr int graph_to_parent_input_index(int i, bool then_branch = true) const {
    const auto [then_graph, else_graph] = called_graph();
    return validate(i, static_cast<int>((then_branch ? then_graph : else_graph).inputs().size()), "graph_to_parent_input_index")
               ? i + (then_branch ? 1 : 1 + then_inputs())
               : -1;
  }
  /// Returns the index of the conditional's output for output i of a branch's graph. The two indices are equal.
  constexpr int graph_to_parent_output_index(int i) const {
    return validate(i, static_cast<int>(outputs().size()), "graph_to_parent_output_index") ? i : -1;
  }
  /// Returns the index of the output of a branch's graph for output i of the conditional. The two indices are equal.
  constexpr int parent_to_graph_output_index(int i) const {
    return validate(i, static_cast<int>(outputs().size()), "parent_to_graph_output_index") ? i : -1;
  }
  /// Returns the index of the input of the branch's graph for input i of the conditional. Fails for input 0, the condition.
  constexpr int parent_to_graph_input_index(int i) const {
    if (!validate(i, static_cast<int>(inputs().size()), "parent_to_graph_input_index")) return -1;
    if (i == 0) {
      ir_->fail("parent_to_graph_input_index: index 0, the condition: an index above 0 expected");
      return -1;
    }
    return is_parent_index_in_then_branch(i) ? i - 1 : i - 1 - then_inputs();
  }
  constexpr bool is_parent_index_in_then_branch(int i) const { return i >= 1 && i <= then_inputs(); }

 private:
  constexpr const Node& node() const { return ir_->tables.record(graph_).nodes[node_]; }
  constexpr int then_inputs() const {
    return valid() ? static_cast<int>(unpack<ConditionalAttributes>(node().attributes).then_inputs) : 0;
  }
  constexpr bool validate(int i, int count, std::string_view what) const {
    if (!valid()) return false;
    if (i >= 0 && i < count) return true;
    ir_->fail(text(what, ": index ", i, " of ", count, ": an index of at least 0 and below ", count, " expected"));
    return false;
  }
  constexpr List<Tensor> handles(bool inputs) const {
    List<Tensor> result;
    if (!valid()) return result;
    for (const TensorId id : inputs ? node().inputs : node().outputs) result.push_back({*ir_, graph_, id});
    return result;
  }

  GraphId graph_ = GraphId::none;
  NodeId node_ = NodeId::none;
};

/// Calls one of two graphs: the first if `condition`, a bool of one element, is true, otherwise the second. Their inputs may
/// differ. Both have the same number of outputs, of equal shapes and dtypes. Returns these outputs. Only the graph that runs
/// changes its inputs by reference.
constexpr ConditionalSiteInfo conditional_with_info(Tensor condition, const Branch& then_branch, const Branch& else_branch) {
  Ir& ir = then_branch.graph.ir();
  if (ir.failed()) return {ir};
  if (!condition.valid()) {
    ir.fail("conditional: a Tensor() of no graph as condition: a tensor expected");
    return {ir};
  }
  if (condition.dtype() != boolean || condition.nelms() != 1) {
    ir.fail(text("conditional: ", to_text(condition), " as condition: bool of one element expected"));
    return {ir};
  }
  const auto then_outputs = detail::specs_of(then_branch.graph.outputs()),
             else_outputs = detail::specs_of(else_branch.graph.outputs());
  const std::size_t outputs = then_outputs.size() -
                              static_cast<std::size_t>(ir.tables.record(then_branch.graph.id()).activations);
  if (const std::size_t others = else_outputs.size() -
                                 static_cast<std::size_t>(ir.tables.record(else_branch.graph.id()).activations);
      others != outputs) {
    ir.fail(text("conditional: ", then_branch.graph.name(), " has ", outputs, " outputs, ", else_branch.graph.name(), " has ",
                 others, ": the same number of outputs expected"));
    return {ir};
  }
  for (std::size_t i = 0; i < outputs; ++i)
    if (then_outputs[i] != else_outputs[i]) {
      ir.fail(text("conditional: output ", i, " is ", to_text(then_outputs[i]), " of ", then_branch.graph.name(), ", ",
                   to_text(else_outputs[i]), " of ", else_branch.graph.name(), ": equal shapes and dtypes expected"));
      return {ir};
    }
  List<Tensor> all{condition};
  for (const Branch* branch : {&then_branch, &else_branch}) {
    if (!detail::check_call(ir, branch->graph)) return {ir};
    for (const Tensor& input : detail::bind_inputs(ir, branch->graph, branch->inputs.tensors(branch->graph), branch->args))
      all.push_back(input);
  }
  if (ir.failed() || !detail::check_inputs(ir, detail::conditional_info, all)) return {ir};
  const auto then_inputs = static_cast<int>(then_branch.graph.inputs().size());
  const NodeId node = append_node(ir, detail::conditional_info, all, {then_outputs.data(), outputs},
                                  pack(ConditionalAttributes{then_inputs}), then_branch.graph.id());
  ir.tables.current().nodes[node].else_graph = else_branch.graph.id();
  detail::add_call_site(ir, then_branch.graph.id(), node, 1);
  detail::add_call_site(ir, else_branch.graph.id(), node, 1 + then_inputs);
  return {ir, ir.tables.current_graph, node};
}
/// Calls one of two graphs and returns the outputs. Arguments and errors are those of conditional_with_info.
constexpr Outputs conditional(Tensor condition, const Branch& then_branch, const Branch& else_branch) {
  return conditional_with_info(condition, then_branch, else_branch).outputs();
}

namespace ops {
using tilewright::conditional;
using tilewright::conditional_with_info;
}  // namespace ops

}  // namespace tilewright
