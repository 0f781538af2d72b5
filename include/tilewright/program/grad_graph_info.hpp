#pragma once
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"

namespace tilewright {

/// Meaning of an input or output of a gradient graph: a forward tensor (Fwd) or its gradient (FwdGrad).
struct ExpectedConnection {
  ExpectedConnectionType connection_type;
  Tensor fwd_tensor;
};

/// Connections of a gradient graph to its forward graph. The first inputs are the provided gradients, in order; a call passes
/// them by position. The other inputs are forward tensors; inputs_dict finds them at a call of the forward graph.
class GradGraphInfo {
 public:
  constexpr GradGraphInfo(Ir& ir, GraphId forward_graph, GradientRecord record)
      : ir_(&ir), forward_graph_(forward_graph), record_(std::move(record)) {}
  /// Describes a handwritten gradient graph. `inputs` has a connection for each of its inputs: first those for gradients of the
  /// forward graph's outputs, then those for forward tensors, which are inputs or outputs of the forward graph. `outputs` has,
  /// for each output of the gradient graph, the input of the forward graph whose gradient it is. Connected tensors have the same
  /// shape and dtype.
  constexpr GradGraphInfo(Graph gradient_graph, Graph forward_graph, const List<ExpectedConnection>& inputs,
                          const List<Tensor>& outputs)
      : ir_(&forward_graph.ir()), forward_graph_(forward_graph.id()), record_{.graph = gradient_graph.id()} {
    List<Tensor> expected;
    for (const auto& [type, tensor] : inputs) {
      record_.inputs.push_back({type, tensor.number()});
      expected.push_back(tensor);
      const auto at = [given = tensor](const List<Tensor>& among) { return has_item(among, given); };
      if (!at(forward_graph.outputs()) && (type == ExpectedConnectionType::FwdGrad || !at(forward_graph.inputs())))
        fail(gradient_graph,
             text(to_text(tensor), type == ExpectedConnectionType::Fwd ? ": an input or output of the forward graph expected"
                                                                       : ": gradients of the forward graph's outputs expected"));
    }
    check_specs(gradient_graph, "input", gradient_graph.inputs(), expected);
    check_specs(gradient_graph, "output", gradient_graph.outputs(), outputs);
    for (const Tensor& tensor : outputs) {
      record_.outputs.push_back(tensor.number());
      if (!forward_graph.contains(tensor) || ir_->tables.record(tensor).kind != TensorKind::input)
        fail(gradient_graph, text("the gradient of ", to_text(tensor), ": of an input of the forward graph expected"));
    }
  }

  constexpr Graph graph() const { return {*ir_, record_.graph}; }
  /// For transforms: returns the tensors by number.
  constexpr const GradientRecord& record() const { return record_; }
  constexpr Graph forward_graph() const { return {*ir_, forward_graph_}; }
  /// Returns one connection for each input of the gradient graph.
  constexpr List<ExpectedConnection> expected_inputs() const {
    List<ExpectedConnection> result;
    for (const auto& [type, tensor] : record_.inputs) result.push_back({type, forward(tensor)});
    return result;
  }
  /// Returns one connection for each output of the gradient graph; all are gradients.
  constexpr List<ExpectedConnection> expected_outputs() const {
    List<ExpectedConnection> result;
    for (const TensorId tensor : record_.outputs) result.push_back({ExpectedConnectionType::FwdGrad, forward(tensor)});
    return result;
  }
  /// Return the forward tensors of expected_inputs(), and of expected_outputs().
  constexpr List<Tensor> inputs() const { return tensors(expected_inputs()); }
  constexpr List<Tensor> outputs() const { return tensors(expected_outputs()); }

  /// Maps the gradient graph's inputs that are forward tensors to the parent tensors with their values at a call of the forward
  /// graph.
  constexpr TensorMap inputs_dict(const CallSiteInfo& forward_call) const {
    TensorMap result;
    if (!validate(forward_call, forward_graph(), "inputs_dict")) return result;
    const auto parents = parents_of(forward_call);
    for (std::size_t i = 0; i < record_.inputs.size(); ++i)
      if (const auto& [type, tensor] = record_.inputs[i]; type == ExpectedConnectionType::Fwd)
        result.insert(graph().input(static_cast<int>(i)), parents[tensor]);
    return result;
  }
  /// Maps inputs of the forward graph to their gradients from a call of the gradient graph.
  constexpr TensorMap fwd_graph_ins_to_grad_parent_outs(const CallSiteInfo& gradient_call) const {
    TensorMap result = TensorMap::of_gradients();
    if (!validate(gradient_call, graph(), "fwd_graph_ins_to_grad_parent_outs")) return result;
    for (std::size_t i = 0; i < record_.outputs.size(); ++i)
      if (const Tensor tensor = forward(record_.outputs[i]); ir_->tables.record(tensor).kind == TensorKind::input)
        result.insert(tensor, gradient_call.parent_output(static_cast<int>(i)));
    return result;
  }
  /// Returns this info and those of the graphs that the forward graph calls, directly or through others. Defined in
  /// transform/autodiff.hpp.
  constexpr List<GradGraphInfo> all_grad_graphs() const;
  /// Maps parent tensors that the forward call reads to their gradients. A tensor that is passed for several inputs gets the sum.
  /// Defined in transform/autodiff.hpp.
  constexpr TensorMap fwd_parent_ins_to_grad_parent_outs(const CallSiteInfo& forward_call,
                                                         const CallSiteInfo& gradient_call) const;

 private:
  constexpr void fail(Graph gradient_graph, const Text& what) const {
    if (!ir_->failed()) ir_->fail(text("GradGraphInfo of ", gradient_graph.name(), ": ", what));
  }
  constexpr void check_specs(Graph gradient_graph, std::string_view what, const List<Tensor>& of_graph,
                             const List<Tensor>& expected) const {
    if (of_graph.size() != expected.size()) {
      fail(gradient_graph, text(expected.size(), " tensors for its ", of_graph.size(), " ", what, "s: one for each expected"));
      return;
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (of_graph[i].spec() != expected[i].spec())
        fail(gradient_graph, text(what, " ", i, ", ", to_text(of_graph[i]), ", for ", to_text(expected[i]),
                                  ": equal shapes and dtypes expected"));
  }
  /// Returns, by forward tensor, the parent tensor at a call of the forward graph; invalid for all except inputs and outputs.
  constexpr List<Tensor, TensorId> parents_of(const CallSiteInfo& call) const {
    const GraphRecord& record = ir_->tables.record(forward_graph_);
    List<Tensor, TensorId> parents(record.tensors.size(), Tensor::invalid(*ir_));
    for (std::size_t i = 0; i < record.outputs.size(); ++i) parents[record.outputs[i]] = call.parent_output(static_cast<int>(i));
    for (std::size_t i = 0; i < record.inputs.size(); ++i) parents[record.inputs[i]] = call.parent_input(static_cast<int>(i));
    return parents;
  }
  constexpr Tensor forward(TensorId tensor) const { return {*ir_, forward_graph_, tensor}; }
  static constexpr List<Tensor> tensors(const List<ExpectedConnection>& connections) {
    List<Tensor> result;
    for (const auto& connection : connections) result.push_back(connection.fwd_tensor);
    return result;
  }
  constexpr bool validate(const CallSiteInfo& call, Graph expected, std::string_view what) const {
    if (!call.valid()) return false;
    if (call.called_graph() == expected) return true;
    ir_->fail(text(what, ": a call of ", call.called_graph().name(), ": a call of ", expected.name(), " expected"));
    return false;
  }

  Ir* ir_;
  GraphId forward_graph_;
  GradientRecord record_;
};

}  // namespace tilewright
