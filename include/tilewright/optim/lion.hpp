#pragma once
#include "tilewright/core/requirements.hpp"

#include <tuple>

#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct Lion;

/// Lion's parameters, with the defaults of its authors. A number becomes a constant of the graph. A Tensor or TensorSpec of one
/// element becomes an input, which each call passes after the weight and the gradient, in the order of the members.
struct LionParameters {
  NumberOrTensor lr = 1e-4;  ///< learning rate: 3 to 10 times smaller than AdamW's
  NumberOrTensor beta1 = 0.9;  ///< share of the first moment in the step: at least 0, below 1
  NumberOrTensor beta2 = 0.99;  ///< decay of the first moment: at least 0, below 1
  NumberOrTensor weight_decay = 0.0;  ///< decoupled decay: each step subtracts lr weight_decay weight from the weight
  std::optional<DType> first_order_dtype{};  ///< dtype of the first moment; none: the weight's, or float32 for half precision

  using Optimiser = Lion;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) { return std::tie(p.lr, p.beta1, p.beta2, p.weight_decay, p.first_order_dtype); }
};

/// Lion for one variable: `build(weight by reference, gradient, parameters)`. Subtracts lr sign(beta1 first_order + (1 - beta1)
/// gradient) from the weight, where first_order does not yet include this gradient ("Symbolic Discovery of Optimization
/// Algorithms", arXiv 2302.06675, algorithm 2). The sign is computed in float32 for half precision. A gradient that is infinite
/// or NaN makes the weight NaN. State: the variable `first_order`, the moving average of the gradient, of the weight's shape.
struct Lion : Module<Lion> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const LionParameters& parameters) {
    const auto& [lr, beta1, beta2, weight_decay, first_order_dtype] = parameters;
    const auto validate = [&](std::string_view name, const NumberOrTensor& value, double below) {
      return tilewright::detail::check_parameter(weight.ir(), "optimiser", name, value, 0, below);
    };
    if (!validate("beta1", beta1, 1) || !validate("beta2", beta2, 1) ||
        !validate("weight_decay", weight_decay, std::numeric_limits<double>::infinity()))
      return;
    const DType dtype = computed_dtype(weight.dtype());
    const Tensor first = detail::add_state(*this, "first_order", weight, first_order_dtype);
    gradient = ops::cast(gradient, dtype);
    const NumberOrTensor rest = beta1.tensor ? NumberOrTensor(1 - *beta1.tensor) : NumberOrTensor(1 - beta1.number);
    const Tensor direction = ops::scaled_add(ops::cast(first, dtype), gradient, {.a = beta1, .b = rest});
    Tensor step = ops::sign(direction) + direction * 0;  // the sign of NaN alone is 0
    if (weight_decay.tensor || weight_decay.number != 0) step = ops::scaled_add(step, weight, {.b = weight_decay});
    ops::accumulate_moving_average_(first, gradient, beta2);
    detail::descend(weight, step, lr);
  }
};

}  // namespace tilewright::optim
