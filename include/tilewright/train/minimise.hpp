#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/train/gradients.hpp"

namespace tilewright::train {

/// An input of a loss: a stream from the host, or a tensor of the program. Each micro-batch takes the next element of a stream;
/// all micro-batches share a tensor.
struct Input {
  /// A new stream: `{"image", {8, 28, 28}}`, `{"label", {8}, int32}`.
  constexpr Input(std::string_view stream_name, const Shape& shape, DType dtype = float32)
      : name(stream_name), spec{shape, dtype} {}
  /// A stream of the program, such as one of InputStreams.
  constexpr Input(HostToDeviceStream given) : spec(given.spec), stream(given) { (void)given.program(); }
  constexpr Input(Tensor given) : spec(given.spec()), tensor(given) {}

  std::string_view name{};
  TensorSpec spec;
  HostToDeviceStream stream{};
  Tensor tensor{};
};

/// A loss that is a mean over counted elements, such as tokens that are not ignored. A loss's build returns it instead of a
/// scalar. The step minimises the sum of `sum` over all micro-batches and replicas, divided by the sum of `count`, so each token
/// has the same weight in every micro-batch. Both are scalars; `sum` has a floating-point dtype.
///
///     return tw::train::MeanLoss(ops::sum(losses * mask), ops::sum(mask));
class MeanLoss {
 public:
  constexpr MeanLoss(Tensor sum, Tensor count) : both_{sum, count} {}
  constexpr const Tensor* begin() const { return both_.data(); }
  constexpr const Tensor* end() const { return both_.data() + both_.size(); }

 private:
  std::array<Tensor, 2> both_;
};

namespace detail {

/// Finds the loss in a build's result: the result itself, or the first element of a pair or tuple.
template <class Result>
struct FirstOf {
  using type = Result;
};
template <class First, class Second>
struct FirstOf<std::pair<First, Second>> {
  using type = First;
};
template <class First, class... Others>
struct FirstOf<std::tuple<First, Others...>> {
  using type = First;
};

/// Returns the name of a loss for errors.
template <class Loss>
constexpr Text name_of_loss() {
  return type_name<Loss>();
}
template <class Loss>
  requires requires { Loss::model; }
constexpr Text name_of_loss() {
  return text("the loss of ", type_name<decltype(Loss::model)>());
}
template <std::size_t>
using TensorAt = Tensor;
/// Returns whether the first result of a loss of n inputs is a MeanLoss.
template <class Loss, std::size_t n>
constexpr bool has_count() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    if constexpr (requires(Loss& loss, TensorAt<i>... inputs) { loss.build(inputs...); }) {
      using Result = std::remove_cvref_t<decltype(std::declval<Loss&>().build(std::declval<TensorAt<i>>()...))>;
      return std::same_as<typename FirstOf<Result>::type, MeanLoss>;
    } else {
      return false;
    }
  }(std::make_index_sequence<n>());
}

/// A loss and its inputs.
template <class Loss, std::size_t n>
struct LossObjective {
  Loss loss;
  std::array<Input, n> inputs;
  StepOptions options;

  static constexpr bool counts = has_count<Loss, n>();

  /// Returns the inputs that all micro-batches share, the tensors.
  constexpr List<Tensor> tensors() const {
    List<Tensor> result;
    for (const Input& input : inputs)
      if (input.tensor.valid()) result.push_back(input.tensor);
    return result;
  }
  constexpr List<Tensor> load(Ir& ir) const { return load_in_loop(ir, tensors()); }
  constexpr List<Tensor> load_in_loop(Ir& ir, const List<Tensor>& given) const {
    List<Tensor> batch;
    std::size_t next = 0;
    for (const Input& input : inputs) {
      if (input.tensor.valid()) batch.push_back(given[next++]);
      else if (input.stream.ir) batch.push_back(ops::host_load(input.stream));
      else batch.push_back(ops::host_load(ir.h2d_stream(input.name, input.spec)));
    }
    return batch;
  }
  constexpr CreatedGraph create_forward(Ir& ir, const List<Tensor>& batch) const {
    const ModeScope mode = training(ir);
    CreatedGraph created = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return create_graph(ir, loss, batch[i]...);
    }(std::make_index_sequence<n>());
    validate(ir, created.graph.graph().outputs());
    return created;
  }
  static constexpr AutodiffOptions differentiated(const GraphWithNamedArgs& forward) {
    AutodiffOptions result;
    result.grads_provided = List<Tensor>{forward.graph().output(0)};
    return result;
  }
  constexpr ForwardPass run_forward(const BoundGraph& forward, const List<Tensor>& batch, const std::optional<Tensor>& scale,
                                    bool mean_follows) const {
    const CallSiteInfo call = forward.call_with_inputs(std::span(batch.data(), batch.size()), {});
    Tensor mean = call.output(0), count;
    if (!mean.valid()) return {call, mean};
    Ir& ir = mean.ir();
    const DType dtype = mean.dtype();
    std::optional<Tensor> factor = scale;
    if constexpr (counts) {
      const Tensor inverse = inverse_of_count(call.output(1));
      mean = ops::cast(mean, float32) * inverse;
      if (mean_follows) count = ops::cast(call.output(1), float32);
      else if (scale) factor = *scale * inverse;
      else factor = inverse;
    }
    store(ir, own_name(options, "loss").view(), mean);
    for (std::size_t i = 0; i < options.outputs.size(); ++i)
      store(ir, options.outputs[i], call.output(static_cast<int>(i + first_output)));
    if (factor) return {call, ops::cast(*factor, dtype), count};
    return {call, ir.constant(1.0, dtype), count};
  }

 private:
  static constexpr std::size_t first_output = counts ? 2 : 1;

  static constexpr void store(Ir& ir, std::string_view name, Tensor value) {
    if (value.valid()) ops::host_store(ir.d2h_stream(name, value.spec()), value);
  }
  constexpr void validate(Ir& ir, const List<Tensor>& outputs) const {
    if (ir.failed()) return;
    const auto fail = [&](const auto&... what) { ir.fail(text("minimise: ", name_of_loss<Loss>(), what...)); };
    if (outputs.size() < first_output) return fail(" returns nothing: a scalar of floating point expected as the (first) result");
    if (outputs[0].shape().rank != 0 || !is_floating_point(outputs[0].dtype()))
      return fail(" gives ", to_text(outputs[0].spec()),
                  ": a scalar of floating point, such as ops::mean of the losses, expected as the (first) result");
    if (counts && outputs[1].shape().rank != 0)
      return fail(" gives the count ", to_text(outputs[1].spec()),
                  ": a scalar, such as ops::sum of the counts, expected as count of MeanLoss");
    if (options.loss_scaling && outputs[0].dtype() != float32)
      return fail(" gives ", to_text(outputs[0].spec()),
                  " for loss scaling: a loss of float32, of logits that are cast to it, expected");
    if (options.outputs.size() > outputs.size() - first_output)
      return fail(" gives ", outputs.size() - first_output, " outputs behind the loss: at least ", options.outputs.size(),
                  ", one for each name in StepOptions::outputs, expected");
  }
};

/// A model and a loss function of the model and the inputs. The variables have the model's names.
template <class Model, class Function>
struct LossOfModel : Module<LossOfModel<Model, Function>> {
  static constexpr std::string_view traced_name = "loss";
  Model model;
  Function function;
  constexpr LossOfModel(const Model& given, const Function& loss) : model(given), function(loss) {}

  template <std::same_as<Tensor>... Inputs>
  constexpr auto build(Inputs... inputs) {
    if constexpr (std::invocable<Function&, Model&, Inputs...>) {
      tilewright::detail::adopt(model, this->adopted_by().first, "");
      return function(model, inputs...);
    } else {
      return this->ir().fail(text("minimise: the loss takes other arguments than (", type_name<Model>(), "&, ", sizeof...(Inputs),
                                  " Tensors), one for each input: a function with these arguments expected"));
    }
  }
};

/// Parameters of an optimiser, or a function; or an optimiser's module, for which run_step has an error.
template <class Optimiser>
concept Updates = OptimiserParameters<Optimiser> || UpdateFunction<Optimiser> || std::derived_from<Optimiser, ModuleBase>;

}  // namespace detail

/// Appends one training step for any loss: forward pass, backward pass, and an update of each variable that a gradient reaches.
/// Variables that no gradient reaches do not change, such as statistics, detached and frozen variables.
///
/// `loss`: a module whose build takes one tensor for each input and returns the loss, a scalar of a floating-point dtype or a
/// MeanLoss. It may return a pair or tuple with more outputs after the loss. It is traced for training. `optimiser`: parameters
/// of an optimiser of tilewright::optim, or a function f(name, variable, gradient). `inputs`: the inputs of the loss for one
/// micro-batch of one replica. A run reads those that are streams. It gives the stream "loss", a scalar for each micro-batch of
/// each replica, and the outputs that StepOptions::outputs names. Gradients are those of the mean loss. Returns the model's
/// variables, for another step or for optim::copy_variables. The variables of the optimiser and of loss scaling have the same
/// names as in train_step.
///
/// Errors: a loss that is not a scalar of a floating-point dtype; with loss scaling, a loss that is not float32; a loss without
/// variables; fewer outputs than names.
///
///     struct Regression : tw::Module<Regression> {
///       BOOST_HANA_DEFINE_STRUCT(Regression, (Net, net));
///       constexpr tw::Tensor build(tw::Tensor x, tw::Tensor y) { return tw::ops::mean(tw::ops::square(net(x) - y)); }
///     };
///     constexpr void train(tw::Ir& ir) {
///       tw::train::minimise(ir, Regression{}, tw::optim::AdamWParameters{.lr = 1e-3}, {{"x", {8, 13}}, {"y", {8, 1}}});
///     }
template <std::derived_from<ModuleBase> Loss, detail::Updates Optimiser, std::size_t n>
TILEWRIGHT_KEPT constexpr NamedTensors&& minimise(Ir& ir, const Loss& loss, const Optimiser& optimiser, const Input (&inputs)[n],
                                                  const StepOptions& options = {}) {
  return tilewright::detail::keep(
      ir, detail::run_step(ir, "minimise", detail::name_of_loss<Loss>(),
                           detail::LossObjective<Loss, n>{loss, std::to_array(inputs), options}, optimiser, options));
}

/// Appends one training step for a model and a loss function of it: `[](Net& net, tw::Tensor x, tw::Tensor y) { return ...; }`.
/// The variables have the names that they have in the model. Other arguments and errors are those of minimise for a loss module.
template <std::derived_from<ModuleBase> Model, class Function, detail::Updates Optimiser, std::size_t n>
TILEWRIGHT_KEPT constexpr NamedTensors&& minimise(Ir& ir, const Model& model, const Function& loss, const Optimiser& optimiser,
                                                  const Input (&inputs)[n], const StepOptions& options = {}) {
  return minimise(ir, detail::LossOfModel<Model, std::decay_t<Function>>(model, loss), optimiser, inputs, options);
}

}  // namespace tilewright::train
