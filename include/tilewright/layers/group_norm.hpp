#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/nn/norm.hpp"

namespace tilewright::layers {

/// Options of GroupNorm, those of torch.nn.GroupNorm.
struct GroupNormOptions {
  double eps = 1e-5;  ///< added to the variance
};

/// Group normalisation: normalises groups of neighbouring channels of each sample to mean 0 and variance 1, then applies weight
/// and bias. ops::group_norm, torch.nn.GroupNorm. x: (batch, channels, ...), float16, bfloat16, float32 or float64. The result
/// has x's shape and dtype. num_groups divides the channels.
///
/// Variables and initial values, of x's dtype: `weight` (channels,), ones; `bias` (channels,), zeros.
template <int num_groups, GroupNormOptions options = {}>
struct GroupNorm : Module<GroupNorm<num_groups, options>> {
  constexpr Tensor build(Tensor x) {
    if (x.rank() < 2) return x.ir().fail(text("GroupNorm: ", to_text(x.spec()), ": axes (batch, channels, ...) expected"));
    const Tensor weight = this->add_variable_input("weight", ones(), {x.shape(1)}, x.dtype());
    const Tensor bias = this->add_variable_input("bias", zeros(), {x.shape(1)}, x.dtype());
    return ops::group_norm(x, weight, bias, num_groups, options.eps);
  }
};

}  // namespace tilewright::layers
