#pragma once
#include "tilewright/core/requirements.hpp"

#include <tuple>

#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/divide_by_root.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct RmsProp;

/// RMSprop's parameters, with PyTorch's names and defaults; `epsilon` is PyTorch's eps. A number becomes a constant of the graph.
/// A Tensor or TensorSpec of one element becomes an input, which each call passes after the weight and the gradient, in the order
/// of the members.
struct RmsPropParameters {
  NumberOrTensor lr = 1e-2;  ///< learning rate
  NumberOrTensor alpha = 0.99;  ///< decay of the moving averages: at least 0, below 1
  NumberOrTensor epsilon = 1e-8;  ///< added to the root of the mean square
  NumberOrTensor weight_decay = 0.0;  ///< adds weight_decay / 2 |weight|^2 to the loss
  NumberOrTensor momentum = 0.0;  ///< 0: no momentum, and no velocity
  Flag centered = false;  ///< whether the gradient's variance replaces its mean square

  using Optimiser = RmsProp;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) { return std::tie(p.lr, p.alpha, p.epsilon, p.weight_decay, p.momentum, p.centered); }
};

/// RMSprop for one variable: `build(weight by reference, gradient, parameters)`. State: the variable `second_order`, the moving
/// average of the gradient's square; if centered, `first_order`, the moving average of the gradient; with momentum, `velocity`.
/// All have the weight's shape and dtype. For half precision, they are float32 and the step is computed in float32.
///
/// The step is gradient / (sqrt(second_order) + epsilon). If centered, sqrt(second_order - first_order^2) replaces the root. With
/// momentum, velocity = momentum velocity + step replaces the step (Tieleman and Hinton, "Lecture 6.5: rmsprop", Coursera, 2012;
/// the centred form: "Generating Sequences With Recurrent Neural Networks", arXiv 1308.0850, equations 38 to 45; epsilon and
/// momentum are in the same places as in PyTorch). A variance that rounding makes negative counts as 0; PyTorch's step is NaN
/// then.
struct RmsProp : Module<RmsProp> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const RmsPropParameters& parameters) {
    const auto& [lr, alpha, epsilon, weight_decay, momentum, centered] = parameters;
    const auto validate = [&](std::string_view name, const NumberOrTensor& value, double below) {
      return tilewright::detail::check_parameter(weight.ir(), "optimiser", name, value, 0, below);
    };
    constexpr double any = std::numeric_limits<double>::infinity();
    if (!validate("alpha", alpha, 1) || !validate("epsilon", epsilon, any) || !validate("weight_decay", weight_decay, any) ||
        !validate("momentum", momentum, any))
      return;
    const Tensor second = detail::add_state(*this, "second_order", weight);
    gradient = ops::cast(gradient, second.dtype());
    if (weight_decay.tensor || weight_decay.number != 0) gradient = ops::scaled_add(gradient, weight, {.b = weight_decay});
    ops::accumulate_moving_average_square_(second, gradient, alpha);
    Tensor square = second;
    if (centered) {
      const Tensor first = detail::add_state(*this, "first_order", weight);
      ops::accumulate_moving_average_(first, gradient, alpha);
      square = ops::maximum(second - first * first, 0);
    }
    const Tensor step = detail::divide_by_root(gradient, square, epsilon);
    if (!momentum.tensor && momentum.number == 0) return detail::descend(weight, step, lr);
    const Tensor velocity = detail::add_state(*this, "velocity", weight);
    ops::scaled_add_(velocity, step, {.a = momentum});
    detail::descend(weight, velocity, lr);
  }
};

}  // namespace tilewright::optim
