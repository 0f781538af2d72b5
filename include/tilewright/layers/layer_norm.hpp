#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/nn/norm.hpp"
#include "tilewright/ops/reduce/reductions.hpp"

namespace tilewright::layers {

/// Options of LayerNorm, those of torch.nn.LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;  ///< added to the variance
  Flag bias = true;  ///< whether the layer has the variable `bias`
};

/// Layer normalisation along the last axis: (x - mean) / sqrt(variance + eps) weight + bias. ops::layer_norm, torch.nn.LayerNorm.
/// x: (..., n), float16, bfloat16, float32 or float64. The result has x's shape and dtype.
///
/// Variables and initial values, of x's dtype: `weight` (n,), ones; `bias` (n,), zeros.
template <LayerNormOptions options = {}>
struct LayerNorm : Module<LayerNorm<options>> {
  constexpr Tensor build(Tensor x) {
    const Shape line{x.shape(-1)};
    const Tensor weight = this->add_variable_input("weight", ones(), line, x.dtype());
    Tensor bias;
    if constexpr (options.bias) bias = this->add_variable_input("bias", zeros(), line, x.dtype());
    else bias = this->ir().constant(zeros(), line, x.dtype(), "no_bias");
    return ops::layer_norm(x, weight, bias, options.eps);
  }
};

}  // namespace tilewright::layers
