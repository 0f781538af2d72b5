#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/nn/batch_norm.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright::layers {

/// Batch normalisation: normalises each channel to mean 0 and variance 1, then applies weight and bias. In training it uses the
/// batch's mean and variance and updates the running ones (ops::batch_norm). In evaluation it uses the running ones
/// (ops::batch_norm_inference). The trace needs a mode scope. torch.nn.BatchNorm1d, BatchNorm2d and BatchNorm3d, with their
/// defaults. x: (batch, channels, ...), float16, bfloat16, float32 or float64. The result has x's shape and dtype.
///
/// Variables and initial values: `weight` (channels,), ones, and `bias` (channels,), zeros, of x's dtype; `running_mean`
/// (channels,), zeros, and `running_var` (channels,), ones, of x's dtype, or float32 for half precision. PyTorch's files also
/// hold `num_batches_tracked`, which this layer does not use.
///
/// Errors: no mode; x without channels; in training, channels of one element.
template <BatchNormOptions options = {}>
struct BatchNorm : Module<BatchNorm<options>> {
  constexpr Tensor build(Tensor x) {
    if (x.rank() < 2) return x.ir().fail(text("BatchNorm: ", to_text(x.spec()), ": axes (batch, channels, ...) expected"));
    const Mode mode = require_mode(this->ir(), "BatchNorm");
    const Shape channels{x.shape(1)};
    const DType dtype = computed_dtype(x.dtype());
    const VariableInputOptions statistics{.by_ref = mode == Mode::training};
    const Tensor weight = this->add_variable_input("weight", ones(), channels, x.dtype());
    const Tensor bias = this->add_variable_input("bias", zeros(), channels, x.dtype());
    const Tensor mean = this->add_variable_input("running_mean", zeros(), channels, dtype, statistics);
    const Tensor variance = this->add_variable_input("running_var", ones(), channels, dtype, statistics);
    if (mode == Mode::training) return ops::batch_norm(x, weight, bias, mean, variance, options);
    const Tensor fixed_mean = mean.detach();
    return ops::batch_norm_inference(x, weight, bias, fixed_mean, variance.detach(), options.eps);
  }
};

}  // namespace tilewright::layers
