#pragma once
#include "tilewright/core/requirements.hpp"

#include <tuple>

#include "tilewright/optim/descend.hpp"
#include "tilewright/optim/divide_by_root.hpp"
#include "tilewright/optim/state.hpp"

namespace tilewright::optim {

struct Adagrad;

/// Adagrad's parameters, with PyTorch's names and defaults; `epsilon` is PyTorch's eps. A number becomes a constant of the graph.
/// A Tensor or TensorSpec of one element becomes an input, which each call passes after the weight and the gradient, in the order
/// of the members.
struct AdagradParameters {
  NumberOrTensor lr = 1e-2;  ///< learning rate of the first step
  NumberOrTensor lr_decay = 0.0;  ///< after t steps the rate is lr / (1 + t lr_decay)
  NumberOrTensor weight_decay = 0.0;  ///< adds weight_decay / 2 |weight|^2 to the loss
  double initial_accumulator_value = 0.0;  ///< initial value of each element of the sum: at least 0
  NumberOrTensor epsilon = 1e-10;  ///< added to the root of the sum

  using Optimiser = Adagrad;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) {
    return std::tie(p.lr, p.lr_decay, p.weight_decay, p.initial_accumulator_value, p.epsilon);
  }
};

/// Adagrad for one variable: `build(weight by reference, gradient, parameters)`. Subtracts the rate times gradient / (sqrt(sum) +
/// epsilon) from the weight ("Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", JMLR 12, 2011; the
/// form is PyTorch's). State: the variable `sum`, the sum of the squares of all gradients, of the weight's shape and dtype. For
/// half precision, the sum is float32 and the step is computed in float32. If lr_decay is not 0, the state also has `step`, a
/// float32 scalar.
struct Adagrad : Module<Adagrad> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const AdagradParameters& parameters) {
    const auto& [lr, lr_decay, weight_decay, initial_accumulator_value, epsilon] = parameters;
    const auto validate = [&](std::string_view name, const NumberOrTensor& value) {
      return tilewright::detail::check_parameter(weight.ir(), "optimiser", name, value);
    };
    if (!validate("lr", lr) || !validate("lr_decay", lr_decay) || !validate("weight_decay", weight_decay) ||
        !validate("initial_accumulator_value", initial_accumulator_value) || !validate("epsilon", epsilon))
      return;
    const Tensor sum = detail::add_state(*this, "sum", weight, {}, full(initial_accumulator_value));
    gradient = ops::cast(gradient, sum.dtype());
    if (weight_decay.tensor || weight_decay.number != 0) gradient = ops::scaled_add(gradient, weight, {.b = weight_decay});
    ops::accumulate_square_(sum, gradient);
    detail::descend(weight, detail::divide_by_root(gradient, sum, epsilon), decayed(lr, lr_decay, sum.dtype()));
  }

 private:
  /// Returns the rate of this step and counts the step.
  constexpr NumberOrTensor decayed(const NumberOrTensor& lr, const NumberOrTensor& lr_decay, DType dtype) {
    if (!lr_decay.tensor && lr_decay.number == 0) return lr;
    const auto scalar = [&](Tensor value) { return value.reshape({}).cast(dtype); };
    const Tensor steps = add_variable_input("step", zeros(), {}, float32, {.by_ref = true}), before = scalar(steps);
    const Tensor divisor = 1 + (lr_decay.tensor ? before * scalar(*lr_decay.tensor) : before * lr_decay.number);
    const Tensor rate = lr.tensor ? scalar(*lr.tensor) / divisor : lr.number / divisor;
    ops::accumulate_(steps, ir().constant(1.0));
    return rate;
  }
};

}  // namespace tilewright::optim
