#pragma once
#include "tilewright/core/requirements.hpp"

#include <tuple>

#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct Sgd;

/// Parameters of gradient descent. A number becomes a constant of the graph. A Tensor or TensorSpec of one element becomes an
/// input, which each call passes after the weight and the gradient, in the order of the members.
struct SgdParameters {
  NumberOrTensor lr = 1e-3;  ///< learning rate
  NumberOrTensor momentum = 0.0;  ///< 0: no momentum, and no state
  NumberOrTensor weight_decay = 0.0;  ///< adds weight_decay / 2 |weight|^2 to the loss
  Flag nesterov = false;  ///< whether to use Nesterov momentum
  std::optional<DType> momentum_dtype{};  ///< dtype of the velocity; none: the weight's, or float32 for half precision

  using Optimiser = Sgd;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) { return std::tie(p.lr, p.momentum, p.weight_decay, p.nesterov, p.momentum_dtype); }
};

namespace detail {
/// Returns whether the step is weight = weight - lr gradient: one op, without state and without a graph.
constexpr bool is_plain(const SgdParameters& parameters) {
  const auto none = [](const NumberOrTensor& value) { return !value.tensor && !value.spec && value.number == 0; };
  return none(parameters.momentum) && none(parameters.weight_decay);
}
}  // namespace detail

/// Stochastic gradient descent for one variable: `build(weight by reference, gradient, parameters)`. With momentum, the state is
/// the variable `velocity`, of the weight's shape: velocity = momentum velocity + gradient, and the step subtracts lr velocity
/// from the weight ("On the importance of initialization and momentum in deep learning", ICML 2013; the form is that of
/// torch.optim.SGD, without dampening).
struct Sgd : Module<Sgd> {
  static constexpr bool in_sequence = true;
  detail::InParameters lr{};

  constexpr void build(TensorByRef weight, Tensor gradient, const SgdParameters& parameters) {
    const auto& [rate, momentum, weight_decay, nesterov, momentum_dtype] = parameters;
    if (!tilewright::detail::check_parameter(weight.ir(), "optimiser", "momentum", momentum) ||
        !tilewright::detail::check_parameter(weight.ir(), "optimiser", "weight_decay", weight_decay))
      return;
    if (weight_decay.tensor || weight_decay.number != 0) gradient = ops::scaled_add(gradient, weight, {.b = weight_decay});
    if (!momentum.tensor && momentum.number == 0) return detail::descend(weight, gradient, rate);
    const Tensor velocity = detail::add_state(*this, "velocity", weight, momentum_dtype);
    ops::scaled_add_(velocity, gradient, {.a = momentum});
    if (nesterov) detail::descend(weight, ops::scaled_add(gradient, velocity, {.b = momentum}), rate);
    else detail::descend(weight, velocity, rate);
  }
};

}  // namespace tilewright::optim
