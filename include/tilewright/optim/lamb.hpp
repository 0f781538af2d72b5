#pragma once
#include <limits>
#include <tuple>

#include "tilewright/optim/moments.hpp"

namespace tilewright::optim {

struct Lamb;

/// LAMB's parameters; PyTorch has no LAMB. A number becomes a constant of the graph. A Tensor or TensorSpec of one element
/// becomes an input, which each call passes after the weight and the gradient, in the order of the members.
struct LambParameters {
  NumberOrTensor lr = 1e-3;  ///< learning rate
  NumberOrTensor beta1 = 0.9;  ///< decay of the first moment
  NumberOrTensor beta2 = 0.999;  ///< decay of the second moment
  NumberOrTensor epsilon = 1e-6;  ///< added to the root of the second moment
  NumberOrTensor weight_decay = 0.0;  ///< adds weight_decay weight to the step before the step is scaled
  NumberOrTensor max_weight_norm = std::numeric_limits<double>::infinity();  ///< upper bound of the weight's norm
  std::optional<DType> first_order_dtype{};  ///< dtype of the first moment; none: the weight's, or float32 for half precision
  Flag bias_correction = true;  ///< whether moments are divided by 1 - beta^step

  using Optimiser = Lamb;
  /// Returns references to the members of parameters, in their order.
  static constexpr auto members(auto& p) {
    return std::tie(p.lr, p.beta1, p.beta2, p.epsilon, p.weight_decay, p.max_weight_norm, p.first_order_dtype, p.bias_correction);
  }
};

/// LAMB for one variable: `build(weight by reference, gradient, parameters)`. Computes Adam's step and scales it to the norm of
/// the weight ("Large Batch Optimization for Deep Learning", arXiv 1904.00962). The state is Adam's. Fails for a shard, because
/// the norm is that of the whole tensor.
struct Lamb : Module<Lamb> {
  static constexpr bool in_sequence = true;

  constexpr void build(TensorByRef weight, Tensor gradient, const LambParameters& parameters) {
    const auto& [lr, beta1, beta2, epsilon, weight_decay, max_weight_norm, first_order_dtype, bias_correction] = parameters;
    if (weight.meta_shape()) {
      weight.ir().fail(text("Lamb: ", to_text(weight), ", a shard of ", to_text(*weight.meta_shape()),
                            ": a weight whose norm each replica can take expected"));
      return;
    }
    const detail::Moments moments(*this, weight, gradient, beta1, beta2, first_order_dtype);
    const Tensor step = ops::lamb_updater(moments.first, moments.second,
                                          moments.updater_options(weight, weight_decay, epsilon, bias_correction));
    const Tensor square = ops::lamb_square(weight);
    ops::adam_var_update(weight, step, square, ops::lamb_square(step), lr, max_weight_norm);
  }
};

}  // namespace tilewright::optim
