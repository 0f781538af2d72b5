#pragma once
#include "tilewright/core/requirements.hpp"

#include <tuple>

#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/moments.hpp"

namespace tilewright::optim {

struct Adam;
struct AdamW;

/// Adam's parameters. A number becomes a constant of the graph. A Tensor or TensorSpec of one element becomes an input, which
/// each call passes after the weight and the gradient, in the order of the members. torch.optim.Adam differs: its epsilon is
/// 1e-8, and it adds the decay to the gradient.
struct AdamParameters {
  NumberOrTensor lr = 1e-3;  ///< learning rate
  NumberOrTensor beta1 = 0.9;  ///< decay of the first moment
  NumberOrTensor beta2 = 0.999;  ///< decay of the second moment
  NumberOrTensor epsilon = 1e-5;  ///< added to the root of the second moment; PyTorch's `eps`, which is 1e-8
  NumberOrTensor weight_decay = 0.0;  ///< decoupled decay: each step subtracts lr weight_decay weight from the weight
  std::optional<DType> first_order_dtype{};  ///< dtype of the first moment; none: the weight's, or float32 for half precision
  Flag bias_correction = true;  ///< whether moments are divided by 1 - beta^step
  Flag amsgrad = false;  ///< whether the largest second moment so far replaces the current one

  using Optimiser = Adam;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) {
    return std::tie(p.lr, p.beta1, p.beta2, p.epsilon, p.weight_decay, p.first_order_dtype, p.bias_correction, p.amsgrad);
  }
};

/// Adam for one variable: `build(weight by reference, gradient, parameters)` ("Adam: A Method for Stochastic Optimization", arXiv
/// 1412.6980; the decay follows "Decoupled Weight Decay Regularization", arXiv 1711.05101). State: the moments of the gradient in
/// the variables `first_order` and `second_order`, of the weight's shape and dtype, or float32 for half precision; with bias
/// correction `step`, a float32 scalar; with amsgrad `max_second_order`, the largest second moment so far, before its correction,
/// as in PyTorch ("On the Convergence of Adam and Beyond", arXiv 1904.09237).
///
///     tw::Cached<tw::optim::Adam> optimiser;  // one graph for all variables of a shape
///     for (const auto& [name, variable] : variables.named_tensors()) {
///       const auto [factories, graph] = optimiser.create_graph(variable, variable.spec(), tw::optim::AdamParameters{});
///       graph.bind(factories.init(name)).call(variable, gradients[variable]);
///     }
struct Adam : Module<Adam> {
  static constexpr bool in_sequence = true;
  detail::InParameters lr{};

  constexpr void build(TensorByRef weight, Tensor gradient, const AdamParameters& parameters) {
    const auto& [rate, beta1, beta2, epsilon, weight_decay, first_order_dtype, bias_correction, amsgrad] = parameters;
    const detail::Moments moments(*this, weight, gradient, beta1, beta2, first_order_dtype);
    const AdamOptions options = moments.updater_options(weight, weight_decay, epsilon, bias_correction);
    detail::descend(weight, ops::adam_updater(moments.first, moments.bounded_second(weight, amsgrad), options), rate);
  }
};

/// AdamW's parameters, with the defaults of torch.optim.AdamW. A number becomes a constant of the graph; a Tensor or TensorSpec
/// of one element becomes an input.
struct AdamWParameters {
  NumberOrTensor lr = 1e-3;  ///< learning rate
  NumberOrTensor beta1 = 0.9;  ///< decay of the first moment
  NumberOrTensor beta2 = 0.999;  ///< decay of the second moment
  NumberOrTensor epsilon = 1e-8;  ///< added to the root of the second moment; PyTorch's `eps`
  NumberOrTensor weight_decay = 0.01;  ///< each step subtracts lr weight_decay weight from the weight
  std::optional<DType> first_order_dtype{};  ///< dtype of the first moment; none: the weight's, or float32 for half precision
  Flag amsgrad = false;  ///< whether the largest second moment so far replaces the current one

  using Optimiser = AdamW;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) {
    return std::tie(p.lr, p.beta1, p.beta2, p.epsilon, p.weight_decay, p.first_order_dtype, p.amsgrad);
  }
};

/// AdamW for one variable: Adam with decoupled weight decay and bias correction, torch.optim.AdamW. Its build and its state are
/// Adam's.
struct AdamW : Module<AdamW> {
  static constexpr bool in_sequence = true;
  detail::InParameters lr{};

  constexpr void build(TensorByRef weight, Tensor gradient, const AdamWParameters& parameters) {
    const auto& [rate, beta1, beta2, epsilon, weight_decay, first_order_dtype, amsgrad] = parameters;
    const detail::Moments moments(*this, weight, gradient, beta1, beta2, first_order_dtype);
    const AdamOptions options = moments.updater_options(weight, weight_decay, epsilon, true);
    detail::descend(weight, ops::adam_updater(moments.first, moments.bounded_second(weight, amsgrad), options), rate);
  }
};

}  // namespace tilewright::optim
