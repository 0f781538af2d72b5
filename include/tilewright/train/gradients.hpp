#pragma once
#include "tilewright/core/requirements.hpp"

// What a step does whatever its loss: gradients of one or several micro-batches, and the updates of variables by them.
//
// An Objective says what is special to a loss. It is a value with
//
//     List<Tensor> tensors() const                      what is the same for all micro-batches
//     List<Tensor> load(Ir&) const                      the next micro-batch: the inputs of the forward graph, then others
//     List<Tensor> load_in_loop(Ir&, tensors) const     the same in a graph that is given the tensors
//     CreatedGraph create_forward(Ir&, batch) const     the forward graph
//     AutodiffOptions differentiated(forward) const     which of its outputs have gradients
//     ForwardPass run_forward(bound, batch, scale, mean_follows) const
#include <limits>
#include <optional>
#include <string_view>

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/collective/collectives.hpp"
#include "tilewright/ops/collective/differs_by_replica.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/memory/host.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/optim/clip.hpp"
#include "tilewright/program/scopes.hpp"
#include "tilewright/train/update.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tilewright::train::detail {

/// Call of the forward graph and the gradient of its first output, multiplied by the scale if there is one. The loss goes to a
/// stream. If `count` is valid, the gradient is that of a sum, and the loss is the sum over all micro-batches and replicas
/// divided by the sum of their counts.
struct ForwardPass {
  CallSiteInfo call;
  Tensor gradient;
  Tensor count{};
};

/// Variables of a model, their gradients, the variable that counts accumulated gradients, and the divisor of the gradients.
struct Gradients {
  NamedTensors variables;
  TensorMap gradients;
  Tensor counter{};
  Tensor count{};
};

constexpr Text own_name(const StepOptions& options, std::string_view name) { return dotted(options.prefix, name); }

/// Variables of a model, and the tensors that its graph takes for them: casts if the variables have another dtype.
struct Variables {
  NamedTensors kept, given;
};
constexpr NamedTensors variables_of(const NamedVariableFactories& factories, const StepOptions& options) {
  const auto fail = [](const VariableFactory& factory, const auto&... what) {
    if (!factory.ir().failed()) factory.ir().fail(text("variables: ", what...));
  };
  const auto find_or_make = [&](std::string_view name, const VariableFactory& factory) {
    if (const Tensor* known = options.variables.find(name)) {
      if (known->spec() != factory.spec())
        fail(factory, "'", name, "' is ", to_text(known->spec()), ": ", to_text(factory.spec()),
             ", as the model has it, expected");
      return *known;
    }
    const Tensor made = factory.create_tensor(name);
    if (made.valid() && made.name() != name)
      fail(factory, "'", name, "' exists already: StepOptions::variables, with what the other step gave, expected");
    return made;
  };
  return factories.transform<Tensor>("", find_or_make, true);
}
constexpr Variables make_variables(const NamedVariableFactories& factories, const StepOptions& options) {
  if (!options.variable_dtype) {
    const NamedTensors variables = variables_of(factories, options);
    return {variables, variables};
  }
  Variables result;
  result.kept = variables_of(
      NamedVariableFactories(factories.transform<VariableFactory>("",
                                                                  [&](std::string_view, const VariableFactory& made) {
                                                                    if (!is_floating_point(made.spec().dtype)) return made;
                                                                    return made.with_dtype(*options.variable_dtype);
                                                                  })),
      options);
  for (const auto& [name, factory] : factories.to_dict())
    result.given.insert(name.view(), ops::cast(result.kept[name.view()], factory.spec().dtype));
  return result;
}

template <class Objective>
constexpr Gradients gradients_of_batch(Ir& ir, const Objective& objective, const StepOptions& options,
                                       const std::optional<Tensor>& scale) {
  const List<Tensor> batch = objective.load(ir);
  const auto [factories, forward] = objective.create_forward(ir, batch);
  if (ir.failed()) return {};
  const auto backward = autodiff(forward, objective.differentiated(forward));
  const auto [variables, given] = make_variables(factories, options);
  const bool mean_follows = ir.replication_factor() > 1;
  const auto [call, gradient, count] = objective.run_forward(forward.bind(given), batch, scale, mean_follows);
  const GradGraphInfo info = backward.grad_graph_info();
  const CallSiteInfo backward_call = backward.call_with_info(gradient, info.inputs_dict(call));
  const TensorMap gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  TensorMap of_variables;
  for (const auto& [name, tensor] : given.to_dict())  // no gradient reaches running statistics, for example
    if (const Tensor* found = gradients.find(tensor)) of_variables.insert(variables[name.view()], *found);
  return {variables, of_variables, {}, count};
}

/// Returns the inputs of a forward graph for variables that are not frozen.
constexpr NamedTensors trained(const NamedTensors& args, const StepOptions& options) {
  if (options.groups.empty()) return args;
  NamedTensors result;
  for (const auto& [name, input] : args.to_dict())
    if (!options_of(options.groups, name.view()).frozen) result.insert(name.view(), input);
  return result;
}

/// Body of the loop over micro-batches: forward and backward pass of one micro-batch. It adds the gradients to accumulators.
template <class Objective>
struct MicroBatch : Module<MicroBatch<Objective>> {
  Objective objective;
  StepOptions options;
  bool is_scaled;
  constexpr MicroBatch(const Objective& made_from, const StepOptions& given, bool scaled)
      : objective(made_from), options(given), is_scaled(scaled) {}

  /// `given`: the tensors of the objective that all micro-batches share, then the scale, if there is one.
  constexpr void build(const List<Tensor>& given) {
    Ir& ir = this->ir();
    std::optional<Tensor> scale;
    if (is_scaled) scale = given.back();
    const List<Tensor> batch = objective.load_in_loop(ir, given);
    const auto [factories, forward] = objective.create_forward(ir, batch);
    if (ir.failed()) return;
    AutodiffOptions differentiated = objective.differentiated(forward);
    differentiated.skips_unreached = true;
    const auto [accumulators, backward] = autodiff_with_accumulation(forward, trained(forward.args(), options),
                                                                     std::move(differentiated));
    const auto [call, gradient, count] = objective.run_forward(forward.bind(this->add_variable_inputs("model", factories)), batch,
                                                               scale, true);
    const NamedTensors kept = this->add_variable_inputs("gradients", accumulators);
    if (count.valid()) {
      const Tensor mean = this->add_variable_input("count", zeros(), {}, float32, {.by_ref = true});
      ops::accumulate_mean_(differs_by_replica(mean), count, kept["mean_accum_counter"]);
    }
    backward.bind(kept).call_with_info({gradient}, backward.grad_graph_info().inputs_dict(call));
  }
};

template <class Objective>
constexpr Gradients mean_gradients(Ir& ir, const Objective& objective, const StepOptions& options,
                                   const std::optional<Tensor>& scale) {
  List<Tensor> given = objective.tensors();
  if (scale) given.push_back(*scale);
  const auto [factories, micro_batch] = create_graph(ir, MicroBatch<Objective>(objective, options, scale.has_value()), given);
  if (ir.failed() || !factories.contains("model")) return {};
  const auto [variables, kept] = make_variables(factories.subtree("model"), options);
  const Text prefix = own_name(options, "gradients");
  const NamedTensors accumulators = NamedVariableFactories(factories.subtree("gradients")).init(prefix.view());
  NamedTensors all;
  all.insert("model", kept);
  all.insert("gradients", accumulators);
  Tensor count;
  if (const VariableFactory* counted = factories.find("count")) {
    count = counted->create_tensor(dotted(prefix.view(), "count").view());
    all.insert("count", count);
  }
  const BoundGraph bound = micro_batch.bind(all);
  repeat_with_info(bound.graph(), options.micro_batches, {}, bound.connect({given.data(), given.size()}, {}));
  if (!accumulators.contains("accum")) return {variables, {}, {}, {}};
  return {variables, variables.to_mapping(accumulators.subtree("accum")), accumulators["mean_accum_counter"], count};
}

constexpr Tensor mean_of_replicas(Tensor value) {
  if (value.ir().replication_factor() == 1) return value;
  return ops::collectives::replicated_all_reduce(value, {.op = CollectiveOperator::mean});
}
/// Returns 1 / count in float32, and 0 for a count of 0.
constexpr Tensor inverse_of_count(Tensor count) {
  const Tensor number = ops::cast(count, float32);
  const Tensor is_some = ops::greater(number, 0);
  return ops::where(is_some, 1 / number, 0);
}

/// Fails for a pattern that matches no variable. Also fails for a group's rate or decay if a function updates the variables,
/// because it cannot use them.
template <class Optimiser>
constexpr void check_groups(Ir& ir, const NamedTensors& variables, const StepOptions& options) {
  for (const auto& [names, group, others] : options.groups) {
    if (!OptimiserParameters<Optimiser> && (group.lr || group.weight_decay))
      ir.fail(
          text("groups: ", group.lr ? "lr" : "weight_decay", " of '", names,
               "', but a function updates the variables: parameters of an optimiser, such as optim::AdamParameters, expected"));
    bool found = false;
    List<Text> all;
    for (const auto& [name, variable] : variables.to_dict()) {
      found = found || tilewright::detail::matches_pattern(names, name.view());
      all.push_back(name);
    }
    if (!found && !ir.failed())
      ir.fail(text("groups: '", names, "' matches no variable: a pattern of one of ", join(all, ", "), " expected"));
  }
}

/// Returns whether a gradient reaches a variable that is not frozen.
constexpr bool trains_something(const Gradients& found, const StepOptions& options) {
  for (const auto& [name, variable] : found.variables.to_dict())
    if (found.gradients.find(variable) && !options_of(options.groups, name.view()).frozen) return true;
  return false;
}
/// Calls update(name, variable, gradient) for each variable that a gradient reaches and that is not frozen. The gradient is the
/// mean over all replicas.
constexpr void update_all(const Gradients& found, const StepOptions& options, std::optional<optim::LossScaler>& scaler,
                          auto&& update) {
  auto variables = found.variables.named_tensors();
  erase_if(variables, [&](const auto& named) {
    return !found.gradients.find(named.second) ||
           (!options.groups.empty() && options_of(options.groups, named.first.view()).frozen);
  });
  std::optional<Tensor> factor;
  if (found.count.valid()) factor = inverse_of_count(mean_of_replicas(found.count));
  const auto gradient_of = [&](Tensor variable) {
    const Tensor gradient = mean_of_replicas(found.gradients[variable]);
    return factor ? ops::cast(gradient, float32) * *factor : gradient;
  };
  const auto average = [&] {
    if (!options.average) return;
    NamedTensors updated;
    for (const auto& [name, variable] : variables) updated.insert(name.view(), variable);
    const Text prefix = own_name(options, options.average->prefix);
    optim::average_variables(updated, {.decay = options.average->decay, .prefix = prefix.view()});
  };
  if ((options.max_norm == 0 && !scaler) || variables.empty()) {
    for (const auto& [name, variable] : variables) update(name.view(), variable, gradient_of(variable));
    return average();
  }
  List<Tensor> gradients;
  for (const auto& [name, variable] : variables) gradients.push_back(gradient_of(variable));
  const auto update_each = [&] {
    std::size_t i = 0;
    for (const auto& [name, variable] : variables) update(name.view(), variable, gradients[i++]);
    average();
  };
  if (!scaler) {
    optim::clip_by_global_norm(gradients, options.max_norm);
    return update_each();
  }
  scaler->step(gradients, options.max_norm, update_each, [&] {
    if (!found.counter.valid()) return;
    for (const auto& [name, variable] : variables) ops::accumulator_zero_(found.gradients[variable]);  // a mean that is no number
  });
}

/// Appends a step of any objective. Returns the model's variables in the dtype in which they are stored.
template <class Objective, class Optimiser>
constexpr NamedTensors run_step(Ir& ir, std::string_view step, const Text& model, const Objective& objective,
                                const Optimiser& optimiser, const StepOptions& options) {
  if constexpr (!OptimiserParameters<Optimiser> && !UpdateFunction<Optimiser>) {
    ir.fail(text(step, ": ", type_name<Optimiser>(),
                 " as optimiser: its parameters, such as AdamWParameters{.lr = 1e-3}, or a "
                 "function f(name, variable, gradient) expected"));
    return {};
  }
  if (options.micro_batches < 1 || options.micro_batches > (std::numeric_limits<int>::max)()) {
    ir.fail(text(step, ": ", options.micro_batches, " micro-batches: from 1 to 2147483647 expected"));
    return {};
  }
  if (options.max_norm != 0 && !(options.max_norm > 0)) {
    ir.fail(text(step, ": max_norm ", number_text(options.max_norm), ": a number above 0, or 0 for no limit, expected"));
    return {};
  }
  std::optional<optim::LossScaler> scaler;
  std::optional<Tensor> scale;
  if (options.loss_scaling) {
    scaler.emplace(ir, *options.loss_scaling, own_name(options, "loss_scaling").view());
    if (ir.failed()) return {};
    scale = scaler->scale();
  }
  Gradients found;
  if (options.micro_batches == 1) found = gradients_of_batch(ir, objective, options, scale);
  else found = mean_gradients(ir, objective, options, scale);
  if (!ir.failed() && found.variables.size() == 0)
    ir.fail(text(step, ": ", model, " has no variables: a model to train expected"));
  if (!ir.failed() && !trains_something(found, options))
    ir.fail(text(step, ": no gradient reaches a variable of ", model, " that is not frozen: at least one expected"));
  if (!ir.failed()) check_groups<Optimiser>(ir, found.variables, options);
  if (ir.failed()) return found.variables;
  if constexpr (OptimiserParameters<Optimiser>) {
    Text state;
    if (!options.optimiser_prefix.empty()) state = own_name(options, options.optimiser_prefix);
    update_all(found, options, scaler, Updater<Optimiser>(optimiser, state.view(), options.groups));
  } else if constexpr (UpdateFunction<Optimiser>) {
    update_all(found, options, scaler, optimiser);
  }
  if (found.counter.valid()) ops::accumulator_zero_(found.counter);
  return found.variables;
}

}  // namespace tilewright::train::detail
