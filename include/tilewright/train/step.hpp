#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/collective/collectives.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/memory/host.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/optim/clip.hpp"
#include "tilewright/optim/loss_scaling.hpp"
#include "tilewright/program/scopes.hpp"
#include "tilewright/train/update.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/autodiff.hpp"

/// Programs that train and test a classifier, and the loop that runs them. Not yet stable: names and parameters may change in any
/// version.
namespace tilewright::train {

struct StepOptions {
  std::int64_t micro_batches = 1;  ///< how many a run takes, one after the other, before it updates the variables
  std::string_view state = "optimiser";  ///< prefix of the names of the optimiser's variables; "": none
  std::string_view input = "image", target = "label";  ///< names of the streams
  Shape target_shape{};  ///< of a micro-batch: the axes of the model's output but for the last; empty: (batch size,)
  double max_norm = 0;  ///< of all gradients together: optim::clip_by_global_norm; 0: they stay as they are
  /// Dtype of the model's variables of floating point, if it is another than the one that the model computes with: float32 for a
  /// model of float16 ("Mixed Precision Training", arXiv 1710.03740). Each step casts them for the model.
  std::optional<DType> variable_dtype{};
  std::optional<optim::LossScaling> loss_scaling{};  ///< of gradients; nothing: they are not scaled
};

namespace detail {

/// Whether a model says that its build takes a seed besides its input.
template <class Model>
constexpr bool takes_seed() {
  if constexpr (requires { Model::takes_seed; }) return Model::takes_seed;
  else return false;
}

/// What a model's build takes, and the targets of its outputs.
struct Batch {
  List<Tensor> inputs;
  Tensor targets;
};
constexpr Tensor load_targets(Ir& ir, const TensorSpec& images, const StepOptions& options) {
  Shape shape = options.target_shape;
  if (shape.rank == 0) shape = {images.shape[0]};
  return ops::host_load(ir.h2d_stream(options.target, shape, int32));
}
/// The next element of the streams.
template <class Model>
constexpr Batch load_batch(Ir& ir, const TensorSpec& images, const StepOptions& options) {
  Batch batch;
  batch.inputs.push_back(ops::host_load(ir.h2d_stream(options.input, images)));
  batch.targets = load_targets(ir, images, options);
  if constexpr (takes_seed<Model>()) batch.inputs.push_back(ops::host_load(ir.h2d_stream("seed", {2}, uint32)));
  return batch;
}
/// The graph of a model that is trained on such batches.
template <class Model>
constexpr CreatedGraph create_forward(Ir& ir, const Model& model, const Batch& batch) {
  const ModeScope mode = training(ir);
  if constexpr (takes_seed<Model>()) return create_graph(ir, model, batch.inputs[0], batch.inputs[1]);
  else return create_graph(ir, model, batch.inputs[0]);
}

/// A call of the forward graph, whose loss goes to the stream "loss", and the gradient of its output, times a scale if it is
/// given.
struct ForwardPass {
  CallSiteInfo call;
  Tensor gradient;
};
constexpr ForwardPass run_forward(const BoundGraph& forward, const Batch& batch, const std::optional<Tensor>& scale) {
  const CallSiteInfo call = forward.call_with_inputs(batch.inputs, {});
  const Tensor logits = call.output(0);
  const auto [loss, gradient] = [&] {
    if (scale) return ops::cross_entropy_with_grad(logits, batch.targets, *scale);
    return ops::cross_entropy_with_grad(logits, batch.targets);
  }();
  if (loss.valid()) ops::host_store(loss.ir().d2h_stream("loss", loss.spec()), loss);
  return {call, gradient};
}

/// A model's variables, the gradient of each, and for accumulated gradients the variable that counts them.
struct Gradients {
  NamedTensors variables;
  TensorMap gradients;
  Tensor count{};
};

/// A model's variables, and what its graph is given for them: their casts, if they are kept in another dtype.
struct Variables {
  NamedTensors kept, given;
};
constexpr Variables make_variables(const NamedVariableFactories& factories, const StepOptions& options) {
  if (!options.variable_dtype) {
    const NamedTensors variables = factories.init();
    return {variables, variables};
  }
  Variables result;
  result.kept = NamedVariableFactories(factories.transform<VariableFactory>("", [&](std::string_view,
                                                                                    const VariableFactory& made) {
                  if (!is_floating_point(made.spec().dtype)) return made;
                  return made.with_dtype(*options.variable_dtype);
                })).init();
  for (const auto& [name, factory] : factories.to_dict())
    result.given.insert(name.view(), ops::cast(result.kept[name.view()], factory.spec().dtype));
  return result;
}

template <class Model>
constexpr Gradients gradients_of_batch(Ir& ir, const Model& model, const TensorSpec& images, const StepOptions& options,
                                       const std::optional<Tensor>& scale) {
  const Batch batch = load_batch<Model>(ir, images, options);
  const auto [factories, forward] = create_forward(ir, model, batch);
  const auto backward = autodiff(forward);
  const auto [variables, given] = make_variables(factories, options);
  const auto [call, gradient] = run_forward(forward.bind(given), batch, scale);
  const GradGraphInfo info = backward.grad_graph_info();
  const CallSiteInfo backward_call = backward.call_with_info(gradient, info.inputs_dict(call));
  const TensorMap gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  TensorMap of_variables;
  for (const auto& [name, tensor] : given.to_dict())  // no gradient reaches running statistics, for example
    if (const Tensor* found = gradients.find(tensor)) of_variables.insert(variables[name.view()], *found);
  return {variables, of_variables};
}

/// Forward and backward pass of one micro-batch, whose gradients go to accumulators: the body of a loop.
template <class Model>
struct MicroBatch : Module<MicroBatch<Model>> {
  Model model;
  TensorSpec images;
  StepOptions options;
  constexpr MicroBatch(const Model& made_from, const TensorSpec& spec, const StepOptions& given)
      : model(made_from), images(spec), options(given) {}

  constexpr void build() { run({}); }
  constexpr void build(Tensor scale) { run(scale); }

 private:
  constexpr void run(const std::optional<Tensor>& scale) {
    const Batch batch = load_batch<Model>(this->ir(), images, options);
    const auto [factories, forward] = create_forward(this->ir(), model, batch);
    const auto [accumulators, backward] = autodiff_with_accumulation(forward, forward.args(), {.skips_unreached = true});
    const auto [call, gradient] = run_forward(forward.bind(this->add_variable_inputs("model", factories)), batch, scale);
    backward.bind(this->add_variable_inputs("gradients", accumulators))
        .call_with_info({gradient}, backward.grad_graph_info().inputs_dict(call));
  }
};

template <class Model>
constexpr Gradients mean_gradients(Ir& ir, const Model& model, const TensorSpec& images, const StepOptions& options,
                                   const std::optional<Tensor>& scale) {
  ir.set_num_host_transfers(static_cast<int>(options.micro_batches));
  const MicroBatch<Model> module(model, images, options);
  const auto [factories, micro_batch] = [&] {
    if (scale) return create_graph(ir, module, *scale);
    return create_graph(ir, module);
  }();
  if (ir.failed() || !factories.contains("model")) return {};
  const auto [variables, given] = make_variables(factories.subtree("model"), options);
  const NamedTensors accumulators = NamedVariableFactories(factories.subtree("gradients")).init("gradients");
  NamedTensors all;
  all.insert("model", given);
  all.insert("gradients", accumulators);
  if (scale) repeat(micro_batch.bind(all), options.micro_batches, {*scale});
  else repeat(micro_batch.bind(all), options.micro_batches);
  return {variables, variables.to_mapping(accumulators.subtree("accum")), accumulators["mean_accum_counter"]};
}

/// The mean gradient of all replicas.
constexpr Tensor mean_gradient(const Gradients& found, Tensor variable) {
  const Tensor gradient = found.gradients[variable];
  if (variable.ir().replication_factor() == 1) return gradient;
  return ops::collectives::replicated_all_reduce(gradient, {.op = CollectiveOperator::mean});
}
/// Calls update(name, variable, gradient) for all variables that a gradient reaches, with the mean gradient of all replicas.
constexpr void update_all(const Gradients& found, const StepOptions& options, std::optional<optim::LossScaler>& scaler,
                          auto&& update) {
  auto variables = found.variables.named_tensors();
  erase_if(variables, [&](const auto& named) { return !found.gradients.find(named.second); });
  if ((options.max_norm == 0 && !scaler) || variables.empty()) {
    for (const auto& [name, variable] : variables) update(name.view(), variable, mean_gradient(found, variable));
    return;
  }
  List<Tensor> gradients;
  for (const auto& [name, variable] : variables) gradients.push_back(mean_gradient(found, variable));
  const auto update_each = [&] {
    std::size_t i = 0;
    for (const auto& [name, variable] : variables) update(name.view(), variable, gradients[i++]);
  };
  if (!scaler) {
    optim::clip_by_global_norm(gradients, options.max_norm);
    return update_each();
  }
  scaler->step(gradients, options.max_norm, update_each, [&] {
    if (!found.count.valid()) return;
    for (const auto& [name, variable] : variables) ops::accumulator_zero_(found.gradients[variable]);  // a mean that is no number
  });
}

}  // namespace detail

/// One step of training a classifier: forward pass, mean cross entropy, backward pass, update of all variables.
///
/// `images`: what `model.build` takes, one micro-batch of one replica: (batch size, ...). The model gives logits, (batch size,
/// classes). A run takes the streams "image", of that spec, and "label" (batch size,) int32, and gives "loss", a scalar for each
/// micro-batch of each replica; the gradient is that of their mean. A program of several replicas sets the replication factor
/// before.
///
/// `optimiser`: parameters of an optimiser of tilewright::optim, or a function f(name, variable, gradient) that updates a
/// variable. A model with a member `static constexpr bool takes_seed = true` is given a seed for each micro-batch, (2,) uint32,
/// as second argument: the stream "seed". The model is traced for training. Its variables have the names that they have in the
/// model. With several micro-batches there are the variables `gradients.accum.<name>`, means of gradients, of float32 for half
/// precision. With loss scaling, updates are given gradients in float32; with a dynamic scale there are the variables
/// `loss_scaling.scale` and `loss_scaling.growth_tracker`, and a step whose gradients are not all finite changes nothing else:
/// optim::LossScaler.
///
///     constexpr void train_step(tw::Ir& ir) {
///       tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 1e-3}, {{8, 28, 28}}, {.micro_batches = 4});
///     }
///     tw::Session<train_step> session;
template <std::derived_from<ModuleBase> Model, class Optimiser>
  requires(OptimiserParameters<Optimiser> || UpdateFunction<Optimiser>)
constexpr void train_step(Ir& ir, const Model& model, const Optimiser& optimiser, const TensorSpec& images,
                          const StepOptions& options = {}) {
  if (options.micro_batches < 1 || options.micro_batches > std::numeric_limits<int>::max() || images.shape.rank < 1) {
    ir.fail(text("train_step: ", options.micro_batches, " micro-batches of ", to_text(images),
                 ": from 1 to 2147483647, with a first axis of images, expected"));
    return;
  }
  if (options.max_norm != 0 && !(options.max_norm > 0)) {
    ir.fail(text("train_step: max_norm ", number_text(options.max_norm), ": above 0, or 0 for none, expected"));
    return;
  }
  std::optional<optim::LossScaler> scaler;
  std::optional<Tensor> scale;
  if (options.loss_scaling) {
    scaler.emplace(ir, *options.loss_scaling);
    if (ir.failed()) return;
    scale = scaler->scale();
  }
  detail::Gradients found;
  if (options.micro_batches == 1) found = detail::gradients_of_batch(ir, model, images, options, scale);
  else found = detail::mean_gradients(ir, model, images, options, scale);
  if (!ir.failed() && found.variables.size() == 0)
    ir.fail(text("train_step: ", type_name<Model>(), " has no variables: a model to train expected"));
  if constexpr (OptimiserParameters<Optimiser>)
    detail::update_all(found, options, scaler, Updater<Optimiser>(optimiser, options.state));
  else detail::update_all(found, options, scaler, optimiser);
  if (found.count.valid()) ops::accumulator_zero_(found.count);
}

/// The forward pass alone, traced for evaluation: a run takes "image"s of the given spec and gives the model's "outputs".
template <std::derived_from<ModuleBase> Model>
constexpr void test_step(Ir& ir, const Model& model, const TensorSpec& images) {
  const ModeScope mode = evaluation(ir);
  const Tensor image = ops::host_load(ir.h2d_stream("image", images));
  const auto [factories, forward] = create_graph(ir, model, image);
  const Tensor outputs = forward.bind(factories.init()).call(image);
  ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}

/// The forward pass and the loss, traced for evaluation: a run takes inputs of the given spec and their targets, and gives the
/// mean loss alone, a scalar: "loss".
template <std::derived_from<ModuleBase> Model>
constexpr void loss_step(Ir& ir, const Model& model, const TensorSpec& images, const StepOptions& options = {}) {
  const ModeScope mode = evaluation(ir);
  const Tensor image = ops::host_load(ir.h2d_stream(options.input, images));
  const Tensor target = detail::load_targets(ir, images, options);
  const auto [factories, forward] = create_graph(ir, model, image);
  const Tensor loss = ops::cross_entropy(forward.bind(factories.init()).call(image), target);
  ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
}

}  // namespace tilewright::train
