#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/accumulate.hpp"
#include "tilewright/ops/collectives.hpp"
#include "tilewright/ops/host.hpp"
#include "tilewright/ops/nll_loss.hpp"
#include "tilewright/train/update.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/autodiff.hpp"

/// Programs that train and test a classifier, and the loop that runs them. Not yet stable: names and parameters may change in any
/// version.
namespace tilewright::train {

struct StepOptions {
  std::int64_t micro_batches = 1;  ///< how many a run takes, one after the other, before it updates the variables
  std::string_view state = "optimiser";  ///< prefix of the names of the optimiser's variables; "": none
};

namespace detail {

struct Batch {
  Tensor images, labels;
};
/// The next element of the streams "image" and "label".
constexpr Batch load_batch(Ir& ir, const TensorSpec& images) {
  const Tensor image = ops::host_load(ir.h2d_stream("image", images));
  return {image, ops::host_load(ir.h2d_stream("label", {images.shape[0]}, int32))};
}

/// A call of the forward graph, whose loss goes to the stream "loss", and the gradient of its output.
struct ForwardPass {
  CallSiteInfo call;
  Tensor gradient;
};
constexpr ForwardPass run_forward(const BoundGraph& forward, const Batch& batch) {
  const CallSiteInfo call = forward.call_with_info(batch.images);
  const auto [loss, gradient] = ops::cross_entropy_with_grad(call.output(0), batch.labels);
  if (loss.valid()) ops::host_store(loss.ir().d2h_stream("loss", loss.spec()), loss);
  return {call, gradient};
}

/// A model's variables, the gradient of each, and for accumulated gradients the variable that counts them.
struct Gradients {
  NamedTensors variables;
  TensorMap gradients;
  Tensor count{};
};

template <class Model>
constexpr Gradients gradients_of_batch(Ir& ir, const Model& model, const TensorSpec& images) {
  const Batch batch = load_batch(ir, images);
  const auto [factories, forward] = create_graph(ir, model, batch.images);
  const auto backward = autodiff(forward);
  const NamedTensors variables = factories.init();
  const auto [call, gradient] = run_forward(forward.bind(variables), batch);
  const GradGraphInfo info = backward.grad_graph_info();
  const CallSiteInfo backward_call = backward.call_with_info(gradient, info.inputs_dict(call));
  return {variables, info.fwd_parent_ins_to_grad_parent_outs(call, backward_call)};
}

/// Forward and backward pass of one micro-batch, whose gradients go to accumulators: the body of a loop.
template <class Model>
struct MicroBatch : Module<MicroBatch<Model>> {
  Model model;
  TensorSpec images;
  constexpr MicroBatch(const Model& made_from, const TensorSpec& spec) : model(made_from), images(spec) {}

  constexpr void build() {
    const Batch batch = load_batch(this->ir(), images);
    const auto [factories, forward] = create_graph(this->ir(), model, batch.images);
    const auto [accumulators, backward] = autodiff_with_accumulation(forward, forward.args());
    const auto [call, gradient] = run_forward(forward.bind(this->add_variable_inputs("model", factories)), batch);
    backward.bind(this->add_variable_inputs("gradients", accumulators))
        .call_with_info({gradient}, backward.grad_graph_info().inputs_dict(call));
  }
};

template <class Model>
constexpr Gradients mean_gradients(Ir& ir, const Model& model, const TensorSpec& images, std::int64_t micro_batches) {
  ir.set_num_host_transfers(static_cast<int>(micro_batches));
  const auto [factories, micro_batch] = create_graph(ir, MicroBatch<Model>(model, images));
  if (ir.failed() || !factories.contains("model")) return {};
  const NamedTensors variables = NamedVariableFactories(factories.subtree("model")).init();
  const NamedTensors accumulators = NamedVariableFactories(factories.subtree("gradients")).init("gradients");
  NamedTensors all;
  all.insert("model", variables);
  all.insert("gradients", accumulators);
  repeat(micro_batch.bind(all), micro_batches);
  return {variables, variables.to_mapping(accumulators.subtree("accum")), accumulators["mean_accum_counter"]};
}

/// Calls update(name, variable, gradient) for all variables, with the mean gradient of all replicas.
constexpr void update_all(const Gradients& found, auto&& update) {
  for (const auto& [name, variable] : found.variables.named_tensors()) {
    Tensor gradient = found.gradients[variable];
    if (variable.ir().replication_factor() > 1)
      gradient = ops::collectives::replicated_all_reduce(gradient, {.op = CollectiveOperator::mean});
    update(name.view(), variable, gradient);
  }
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
/// variable. The model's variables have the names that they have in the model. With several micro-batches there are the variables
/// `gradients.accum.<name>`, sums of gradients in the gradients' dtype.
///
///     constexpr void train_step(tw::Ir& ir) {
///       tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 1e-3}, {{8, 28, 28}}, {.micro_batches = 4});
///     }
///     tw::Session<train_step> session;
template <std::derived_from<ModuleBase> Model, class Optimiser>
  requires(OptimiserParameters<Optimiser> || UpdateFunction<Optimiser>)
constexpr void train_step(Ir& ir, const Model& model, const Optimiser& optimiser, const TensorSpec& images,
                          const StepOptions& options = {}) {
  if (options.micro_batches < 1 || images.shape.rank < 1) {
    ir.fail(text("train_step: ", options.micro_batches, " micro-batches of ", to_text(images),
                 ": at least 1, with a first axis of images, expected"));
    return;
  }
  detail::Gradients found;
  if (options.micro_batches == 1) found = detail::gradients_of_batch(ir, model, images);
  else found = detail::mean_gradients(ir, model, images, options.micro_batches);
  if (!ir.failed() && found.variables.size() == 0)
    ir.fail(text("train_step: ", type_name<Model>(), " has no variables: a model to train expected"));
  if constexpr (OptimiserParameters<Optimiser>) detail::update_all(found, Updater<Optimiser>(optimiser, options.state));
  else detail::update_all(found, optimiser);
  if (found.count.valid()) ops::accumulator_zero_(found.count);
}

/// The forward pass alone: a run takes "image"s of the given spec and gives the model's "outputs".
template <std::derived_from<ModuleBase> Model>
constexpr void test_step(Ir& ir, const Model& model, const TensorSpec& images) {
  const Tensor image = ops::host_load(ir.h2d_stream("image", images));
  const auto [factories, forward] = create_graph(ir, model, image);
  const Tensor outputs = forward.bind(factories.init()).call(image);
  ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}

}  // namespace tilewright::train
