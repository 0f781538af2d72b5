#pragma once
#include "tilewright/core/requirements.hpp"

#include <boost/hana/adapt_struct.hpp>

#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/divide_by_root.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct RmsProp;

/// RMSprop's parameters, with PyTorch's names and defaults; `epsilon` is its eps. Numbers become part of the graph; a Tensor or
/// TensorSpec, of one element, makes an input of it, in this order after the weight and its gradient, which each call gives.
struct RmsPropParameters {
  NumberOrTensor lr = 1e-2;           ///< learning rate
  NumberOrTensor alpha = 0.99;        ///< decay of the moving averages: at least 0, below 1
  NumberOrTensor epsilon = 1e-8;      ///< added to the root of the mean square
  NumberOrTensor weight_decay = 0.0;  ///< the gradient is that of the loss plus weight_decay / 2 |weight|^2
  NumberOrTensor momentum = 0.0;      ///< 0: none, and no velocity
  bool centered = false;              ///< whether the gradient's variance is taken in place of its mean square

  using Optimiser = RmsProp;
};

/// RMSprop for one variable: `build(weight by reference, gradient, parameters)`. Its state: the variable `second_order`, the
/// moving average of the gradient's square; if centered, `first_order`, that of the gradient; with momentum, `velocity`. All are
/// of the weight's shape and dtype, and of float32 for half precision, in which the step is computed.
///
/// The step is gradient / (sqrt(second_order) + epsilon), where centred averages give sqrt(second_order - first_order^2); with
/// momentum, velocity = momentum velocity + step takes its place (Tieleman and Hinton, "Lecture 6.5: rmsprop", Coursera, 2012;
/// the centred form: "Generating Sequences With Recurrent Neural Networks", arXiv 1308.0850, equations 38 to 45; epsilon and
/// momentum are where PyTorch has them). A variance that rounding makes negative counts as 0, where PyTorch's step is NaN.
struct RmsProp : Module<RmsProp> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const RmsPropParameters& parameters) {
    const auto& [lr, alpha, epsilon, weight_decay, momentum, centered] = parameters;
    const auto check = [&](std::string_view name, const NumberOrTensor& value, double below) {
      return tilewright::detail::check_parameter(weight.ir(), "optimiser", name, value, 0, below);
    };
    constexpr double any = std::numeric_limits<double>::infinity();
    if (!check("alpha", alpha, 1) || !check("epsilon", epsilon, any) || !check("weight_decay", weight_decay, any) ||
        !check("momentum", momentum, any))
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

BOOST_HANA_ADAPT_STRUCT(tilewright::optim::RmsPropParameters, lr, alpha, epsilon, weight_decay, momentum, centered);
