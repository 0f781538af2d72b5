#pragma once
#include <boost/hana/adapt_struct.hpp>

#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct Sgd;

/// The parameters of gradient descent. Numbers become part of the graph; a Tensor or TensorSpec, of one element, makes an input
/// of it, in this order after the weight and its gradient, which each call gives.
struct SgdParameters {
  NumberOrTensor lr = 1e-3;           ///< learning rate
  NumberOrTensor momentum = 0.0;      ///< 0: none, and no state
  NumberOrTensor weight_decay = 0.0;  ///< the gradient is that of the loss plus weight_decay / 2 |weight|^2
  bool nesterov = false;              ///< whether the step looks ahead by the momentum
  std::optional<DType> momentum_dtype{};  ///< of the velocity; none: the weight's, and float32 for half precision

  using Optimiser = Sgd;
};

namespace detail {
/// Whether the step is weight = weight - lr gradient: one op, which needs no state and no graph.
constexpr bool is_plain(const SgdParameters& parameters) {
  const auto none = [](const NumberOrTensor& value) { return !value.tensor && !value.spec && value.number == 0; };
  return none(parameters.momentum) && none(parameters.weight_decay);
}
}  // namespace detail

/// Stochastic gradient descent for one variable: `build(weight by reference, gradient, parameters)`. With momentum its state is
/// the variable `velocity`, of the weight's shape: velocity = momentum velocity + gradient, and the weight loses lr velocity ("On
/// the importance of initialization and momentum in deep learning", ICML 2013; the form is that of torch.optim.SGD, without
/// dampening).
struct Sgd : Module<Sgd> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const SgdParameters& parameters) {
    const auto& [lr, momentum, weight_decay, nesterov, momentum_dtype] = parameters;
    if (!tilewright::detail::check_parameter(weight.ir(), "optimiser", "momentum", momentum) ||
        !tilewright::detail::check_parameter(weight.ir(), "optimiser", "weight_decay", weight_decay))
      return;
    if (weight_decay.tensor || weight_decay.number != 0) gradient = ops::scaled_add(gradient, weight, {.b = weight_decay});
    if (!momentum.tensor && momentum.number == 0) return detail::descend(weight, gradient, lr);
    const Tensor velocity = detail::add_state(*this, "velocity", weight, momentum_dtype);
    ops::scaled_add_(velocity, gradient, {.a = momentum});
    if (nesterov) detail::descend(weight, ops::scaled_add(gradient, velocity, {.b = momentum}), lr);
    else detail::descend(weight, velocity, lr);
  }
};

}  // namespace tilewright::optim

BOOST_HANA_ADAPT_STRUCT(tilewright::optim::SgdParameters, lr, momentum, weight_decay, nesterov, momentum_dtype);
