#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/collective/differs_by_replica.hpp"
#include "tilewright/ops/update/var_updates.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tilewright {

/// Creates a gradient graph that accumulates the gradients of `tensors`, inputs of the forward graph. Each call adds the
/// gradients to running means instead of returning them. A mean is an input by reference named `accum.<name>`. Its variable has
/// the tensor's shape and dtype, or float32 for half precision, and is initially zero. Each replica has separate means. The
/// variable `mean_accum_counter`, a float32 scalar, counts the gradients in the means. Set it to 0 to start new means; the
/// accumulators need not be cleared. By default no gradients are returned. `replica_groupings` has the groups of replicas that
/// share each tensor, by the tensors' dotted names, such as factories.replica_groupings(): the host's array of a mean then has an
/// axis over the groups. The other arguments and errors are those of autodiff.
TILEWRIGHT_KEPT constexpr CreatedGraph&& autodiff_with_accumulation(const GraphWithNamedArgs& forward,
                                                                    const DotTree<Tensor>& tensors, AutodiffOptions options = {},
                                                                    const DotTree<ReplicaGrouping>& replica_groupings = {}) {
  Ir& ir = forward.ir();
  const auto named = tensors.to_dict();
  List<Tensor> required;
  if (options.grads_required) required = *options.grads_required;
  const std::size_t results = required.size();
  for (const auto& [name, tensor] : named) required.push_back(tensor);
  options.grads_required = std::move(required);
  const GradGraphInfo info = autodiff(forward.graph(), options);
  if (ir.failed()) return detail::keep(ir, CreatedGraph{{}, {info.graph(), {}, info}});

  const GraphId graph = info.graph().id();
  GradientRecord record = info.record();
  GradientRecord& of_callers = ir.tables.record(forward.graph().id()).gradient;
  if (of_callers.graph == graph) of_callers = {};  // a build_grad made it: callers need a graph that returns gradients
  const List<TensorId> gradients = ir.tables.record(graph).outputs;
  const List<TensorId> reached = record.outputs;  // those results, and what is accumulated
  record.outputs.resize(results, TensorId::none);
  ir.tables.record(graph).outputs.resize(results, TensorId::none);
  const GraphScope scope(info.graph());
  NamedVariableFactories factories;
  NamedTensors args;
  const auto add_variable = [&](const Text& name, const TensorSpec& spec, const ReplicaGrouping* grouping = nullptr) {
    const VariableFactory factory(ir, zeros(), spec, true, grouping ? *grouping : ReplicaGrouping());
    factories.insert(name.view(), factory);
    const Tensor input = factory.create_input(name.view());
    args.insert(name.view(), input);
    return input;
  };
  const Tensor counter = add_variable("mean_accum_counter", {{}, float32});
  for (std::size_t i = results; i < reached.size(); ++i) {
    std::size_t n = 0;
    while (named[n].second.number() != reached[i]) ++n;
    const Tensor gradient(ir, graph, gradients[i]);
    const TensorSpec mean{gradient.shape(), computed_dtype(gradient.dtype())};
    const ReplicaGrouping* grouping = replica_groupings.find(named[n].first.view());
    ops::accumulate_mean_(differs_by_replica(add_variable(text("accum.", named[n].first), mean, grouping)), gradient, counter);
  }
  ops::accumulate_(counter, ir.constant(1));
  return detail::keep(ir,
                      CreatedGraph{std::move(factories),
                                   {info.graph(), std::move(args), GradGraphInfo(ir, forward.graph().id(), std::move(record))}});
}

}  // namespace tilewright
