#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/optional_number.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/mean.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

/// Options of RMSNorm, those of torch.nn.RMSNorm.
struct RMSNormOptions {
  OptionalNumber eps{};  ///< added to the mean of squares; none: the machine epsilon of x's dtype, as in PyTorch; Llama's is 1e-6
};

namespace detail {
/// Returns the machine epsilon of a floating-point dtype: the distance from 1 to the next number, torch.finfo(dtype).eps.
constexpr double distance_from_one(DType dtype) {
  if (dtype == float16) return 0x1p-10;
  if (dtype == bfloat16) return 0x1p-7;
  return dtype == float64 ? 0x1p-52 : 0x1p-23;
}
}  // namespace detail

/// RMS normalisation along the last axis: x / sqrt(mean(x^2) + eps) weight ("Root Mean Square Layer Normalization", arXiv
/// 1910.07467). torch.nn.RMSNorm, with its defaults. x: (..., n), float16, bfloat16, float32 or float64; half precision is
/// normalised in float32. The result has x's shape and dtype.
///
/// Variable and initial values, of x's dtype: `weight` (n,), ones.
template <RMSNormOptions options = {}>
struct RMSNorm : Module<RMSNorm<options>> {
  constexpr Tensor build(Tensor x) {
    const double eps = options.eps.given ? options.eps.value : detail::distance_from_one(x.dtype());
    if (!tilewright::detail::check_parameter(x.ir(), "RMSNorm", "eps", eps)) return x;
    const Tensor weight = this->add_variable_input("weight", ones(), {x.shape(-1)}, x.dtype());
    const Tensor wide = ops::cast(x, computed_dtype(x.dtype()));
    return ops::cast(wide * (1 / ops::sqrt(ops::mean(wide * wide, {-1}, true) + eps)), x.dtype()) * weight;
  }
};

}  // namespace tilewright::layers
