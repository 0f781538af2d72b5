#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/transform/calls/called_gradients.hpp"

namespace tilewright {

/// Creates a gradient graph that calls the forward graph again instead of taking its inner tensors as inputs. No inner tensor is
/// live from the forward call to the gradient call, at the price of a second forward call. The inputs are the provided gradients,
/// all inputs of the forward graph, and other inputs of the gradient graph, such as accumulators. The outputs are those of the
/// gradient graph. Names of inputs are kept. Errors: a graph that autodiff did not create; a forward graph with side effects that
/// must not happen twice.
[[nodiscard]] TILEWRIGHT_KEPT constexpr GraphWithNamedArgs&& recompute_graph(const GraphWithNamedArgs& gradient) {
  Ir& ir = gradient.ir();
  const GradGraphInfo info = gradient.grad_graph_info();
  if (ir.failed()) return detail::keep(ir, GraphWithNamedArgs(gradient));
  const GraphId forward = info.forward_graph().id();
  const GradientRecord record = info.record();
  if (detail::has_side_effects(ir, forward)) {
    ir.fail(text("recompute_graph of ", info.graph().name(), ": ", info.forward_graph().name(),
                 " has side effects: a forward graph that can be computed again expected"));
    return detail::keep(ir, GraphWithNamedArgs(gradient));
  }
  GradientRecord result{.graph = ir.tables.add_derived_graph(record.graph, "_recomp")};
  const GraphScope scope(ir.graph(result.graph));
  const auto connect = [&](ExpectedConnectionType type, TensorId tensor) {
    result.inputs.push_back({type, tensor});
    const Tensor connected(ir, forward, tensor);
    Text name = connected.name();
    if (type == ExpectedConnectionType::FwdGrad && !name.empty()) name = text("Gradient___", name);
    return detail::add_graph_input(ir, connected.spec(), name.view(), false, ir.tables.record(connected).meta_shape);
  };
  List<Tensor> arguments, forward_inputs;  // of the gradient graph and the forward graph
  for (const auto& [type, tensor] : record.inputs)
    if (type == ExpectedConnectionType::FwdGrad) arguments.push_back(connect(type, tensor));
  const List<TensorId> inputs = ir.tables.record(forward).inputs, outputs = ir.tables.record(forward).outputs;
  for (const TensorId tensor : inputs) forward_inputs.push_back(connect(ExpectedConnectionType::Fwd, tensor));
  const auto results = call_with_info(ir.graph(forward), forward_inputs).outputs();
  const detail::TensorPositions input_of(inputs, ir.tables.record(forward).tensors.size()),
      output_of(outputs, ir.tables.record(forward).tensors.size());
  for (const auto& [type, tensor] : record.inputs) {
    if (type == ExpectedConnectionType::FwdGrad) continue;
    if (input_of[tensor] >= 0) arguments.push_back(forward_inputs[static_cast<std::size_t>(input_of[tensor])]);
    else arguments.push_back(results[static_cast<std::size_t>(output_of[tensor])]);
  }
  const List<int> by_reference = ir.tables.record(record.graph).by_reference;
  const auto gradient_inputs = info.graph().inputs();
  List<Pair<Tensor, Tensor>> renamed;  // inputs of the gradient graph, and of the new one
  for (std::size_t i = 0; i < gradient_inputs.size(); ++i) {
    if (i >= record.inputs.size()) {
      const bool by_ref = has_item(by_reference, static_cast<int>(i));
      arguments.push_back(detail::add_graph_input(ir, gradient_inputs[i].spec(), gradient_inputs[i].name(), by_ref));
    }
    renamed.push_back({gradient_inputs[i], arguments[i]});
  }
  for (const Tensor& output : call_with_info(ir.graph(record.graph), arguments).outputs()) graph_output(output);
  result.outputs = record.outputs;
  NamedTensors args;
  for (const auto& [name, input] : gradient.args().to_dict())
    for (const auto& [old, renewed] : renamed)
      if (old == input) args.insert(name.view(), renewed);
  const Graph graph(ir, result.graph);
  return detail::keep(ir, GraphWithNamedArgs(graph, std::move(args), GradGraphInfo(ir, forward, std::move(result))));
}

}  // namespace tilewright
