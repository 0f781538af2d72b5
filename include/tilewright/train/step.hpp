#pragma once
#include "tilewright/core/requirements.hpp"

#include <string_view>
#include <utility>

#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/train/gradients.hpp"

namespace tilewright::train {

namespace detail {

/// Whether a model says that its build takes a seed besides its input.
template <class Model>
constexpr bool takes_seed() {
  if constexpr (requires { Model::takes_seed; }) return Model::takes_seed;
  else return false;
}

constexpr Tensor load_targets(Ir& ir, const TensorSpec& images, const StepOptions& options) {
  Shape shape = options.target_shape;
  if (shape.rank == 0) shape = {images.shape[0]};
  return ops::host_load(ir.h2d_stream(options.target, shape, int32));
}

/// The mean cross entropy of a classifier's output. A batch: its input, the seed if it takes one, then the targets.
template <class Model>
struct Classifier {
  Model model;
  TensorSpec images;
  StepOptions options;

  /// What is the same for all micro-batches: nothing.
  constexpr List<Tensor> tensors() const { return {}; }
  constexpr List<Tensor> load(Ir& ir) const {
    List<Tensor> batch;
    batch.push_back(ops::host_load(ir.h2d_stream(options.input, images)));
    const Tensor targets = load_targets(ir, images, options);
    if constexpr (takes_seed<Model>()) batch.push_back(ops::host_load(ir.h2d_stream("seed", {2}, uint32)));
    batch.push_back(targets);
    return batch;
  }
  constexpr List<Tensor> load_in_loop(Ir& ir, const List<Tensor>&) const { return load(ir); }
  constexpr CreatedGraph create_forward(Ir& ir, const List<Tensor>& batch) const {
    const ModeScope mode = training(ir);
    if constexpr (takes_seed<Model>()) return create_graph(ir, model, batch[0], batch[1]);
    else return create_graph(ir, model, batch[0]);
  }
  static constexpr AutodiffOptions differentiated(const GraphWithNamedArgs&) { return {}; }
  constexpr ForwardPass run_forward(const BoundGraph& forward, const List<Tensor>& batch, const std::optional<Tensor>& scale,
                                    bool) const {
    const CallSiteInfo call = forward.call_with_inputs(std::span(batch.data(), batch.size() - 1), {});
    const Tensor logits = call.output(0), targets = batch.back();
    const auto [loss, gradient] = [&] {
      if (scale) return ops::cross_entropy_with_grad(logits, targets, *scale);
      return ops::cross_entropy_with_grad(logits, targets);
    }();
    if (loss.valid()) ops::host_store(loss.ir().d2h_stream(own_name(options, "loss").view(), loss.spec()), loss);
    return {call, gradient};
  }
};

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
constexpr NamedTensors train_step(Ir& ir, const Model& model, const Optimiser& optimiser, const TensorSpec& images,
                                  const StepOptions& options = {}) {
  if (images.shape.rank < 1) {
    ir.fail(text("train_step: ", to_text(images), ": a first axis of images expected"));
    return {};
  }
  return detail::run_step(ir, "train_step", Text(type_name<Model>()), detail::Classifier<Model>{model, images, options},
                          optimiser, options);
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
