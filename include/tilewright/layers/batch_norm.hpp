#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/nn/batch_norm.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright::layers {

/// Each channel with mean 0 and variance 1, times weight, plus bias. In training the mean and variance are the batch's, and
/// change the running ones: ops::batch_norm. In evaluation they are the running ones: ops::batch_norm_inference. The trace has a
/// scope of either mode. torch.nn.BatchNorm1d, BatchNorm2d and BatchNorm3d, and their defaults. x: (batch, channels, ...),
/// float16, bfloat16, float32 or float64; result: the same.
///
/// Variables and first values: `weight` (channels,), ones, and `bias` (channels,), zeros, of x's dtype; `running_mean`
/// (channels,), zeros, and `running_var` (channels,), ones, of x's dtype, or float32 for half precision. PyTorch's files have
/// `num_batches_tracked` besides.
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
    return ops::batch_norm_inference(x, weight, bias, mean.detach(), variance.detach(), options.eps);
  }
};

}  // namespace tilewright::layers
