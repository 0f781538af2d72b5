#pragma once
#include "tilewright/core/requirements.hpp"

#include <utility>

#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/train/gradients.hpp"

namespace tilewright::train {

namespace detail {

using tilewright::detail::takes_seed;

constexpr Tensor load_targets(Ir& ir, const TensorSpec& images, const StepOptions& options) {
  Shape shape = options.target_shape;
  if (shape.rank == 0) shape = {images.shape[0]};
  return ops::host_load(ir.h2d_stream(options.target, shape, int32));
}

/// Mean cross entropy of a classifier's output. A batch is the input, the seed if the model takes one, and the targets.
template <class Model>
struct Classifier {
  Model model;
  TensorSpec images;
  StepOptions options;

  /// Returns the tensors that all micro-batches share: none.
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

/// Appends one training step of a classifier: forward pass, mean cross entropy, backward pass, and an update of all variables.
///
/// `images`: the input of `model.build` for one micro-batch of one replica, (batch size, ...). The model returns logits, (batch
/// size, classes). A run takes the streams "image", of that spec, and "label", (batch size,) int32. It gives "loss", a scalar for
/// each micro-batch of each replica; gradients are those of the mean loss. Set the replication factor of a program of several
/// replicas before the call.
///
/// `optimiser`: parameters of an optimiser of tilewright::optim, or a function f(name, variable, gradient) that updates a
/// variable. A model with a member `static constexpr bool takes_seed = true` takes a seed for each micro-batch, (2,) uint32, as
/// its second argument; the seed is the stream "seed". The model is traced for training. Its variables have the names that they
/// have in the model. With several micro-batches, the variables `gradients.accum.<name>` hold means of gradients, in float32 for
/// half precision. With loss scaling, updates take gradients in float32. A dynamic scale adds the variables `loss_scaling.scale`
/// and `loss_scaling.growth_tracker`; if a gradient is infinite or NaN, the step changes only these two, see optim::LossScaler.
///
///     constexpr void train_step(tw::Ir& ir) {
///       tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 1e-3}, {{8, 28, 28}}, {.micro_batches = 4});
///     }
///     tw::Session<train_step> session;
template <std::derived_from<ModuleBase> Model, class Optimiser>
TILEWRIGHT_KEPT constexpr NamedTensors&& train_step(Ir& ir, const Model& model, const Optimiser& optimiser,
                                                    const TensorSpec& images, const StepOptions& options = {}) {
  if (images.shape.rank < 1) {
    ir.fail(text("train_step: ", to_text(images), ": a first axis of images expected"));
    return tilewright::detail::keep(ir, NamedTensors());
  }
  return tilewright::detail::keep(ir, detail::run_step(ir, "train_step", Text(type_name<Model>()),
                                                       detail::Classifier<Model>{model, images, options}, optimiser, options));
}

/// Appends the forward pass alone, traced for evaluation. A run takes the stream "image", of the given spec, or that of
/// `options.input`, and gives the model's "outputs".
template <std::derived_from<ModuleBase> Model>
constexpr void test_step(Ir& ir, const Model& model, const TensorSpec& images, const StepOptions& options = {}) {
  const ModeScope mode = evaluation(ir);
  const Tensor image = ops::host_load(ir.h2d_stream(options.input, images));
  const auto [factories, forward] = create_graph(ir, model, image);
  const Tensor outputs = forward.bind(factories.init()).call(image);
  ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}

/// Appends the forward pass and the loss, traced for evaluation. A run takes inputs of the given spec and their targets, and
/// gives the mean loss as a scalar, "loss".
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
