#pragma once
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/update/var_updates.hpp"
#include "tilewright/optim/state.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::optim::detail {

/// Moving averages of a gradient and of its square: the variables `first_order` and `second_order` of a module.
struct Moments {
  ModuleBase& module;
  NumberOrTensor beta1, beta2;
  Tensor first, second;

  constexpr Moments(ModuleBase& owner, Tensor weight, Tensor gradient, const NumberOrTensor& decay1, const NumberOrTensor& decay2,
                    std::optional<DType> first_order_dtype)
      : module(owner), beta1(decay1), beta2(decay2), first(add_state(owner, "first_order", weight, first_order_dtype)) {
    const auto validate = [&](std::string_view name, const NumberOrTensor& beta) {
      return tilewright::detail::check_parameter(weight.ir(), "optimiser", name, beta, 0, 1);
    };
    if (!validate("beta1", beta1) || !validate("beta2", beta2)) return;
    ops::accumulate_moving_average_(first, gradient, beta1);
    second = add_state(owner, "second_order", weight);
    ops::accumulate_moving_average_square_(second, gradient, beta2);
  }
  /// Returns the second moment. For AMSGrad, updates and returns its elementwise maximum so far, the variable `max_second_order`.
  constexpr Tensor bounded_second(Tensor weight, bool amsgrad) const {
    if (!amsgrad || weight.ir().failed()) return second;
    const Tensor largest = add_state(module, "max_second_order", weight);
    return ops::copy_var_update_(largest, ops::maximum(largest, second));
  }
  /// Returns the options of the updaters. With bias correction, adds the variable `step` to the module.
  constexpr AdamOptions updater_options(Tensor weight, const NumberOrTensor& weight_decay, const NumberOrTensor& epsilon,
                                        bool bias_correction) const {
    AdamOptions options{.weight_decay = weight_decay, .epsilon = epsilon};
    if (!tilewright::detail::check_parameter(weight.ir(), "optimiser", "epsilon", epsilon) ||
        !tilewright::detail::check_parameter(weight.ir(), "optimiser", "weight_decay", weight_decay))
      return options;
    if (weight_decay.tensor || weight_decay.number != 0) options.weight = weight;
    if (!bias_correction) return options;
    options.time_step = module.add_variable_input("step", zeros(), {}, float32, {.by_ref = true});
    options.beta1 = beta1;
    options.beta2 = beta2;
    return options;
  }
};

}  // namespace tilewright::optim::detail
