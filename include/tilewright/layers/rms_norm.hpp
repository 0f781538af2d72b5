#pragma once
#include "tilewright/graph/check_parameter.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/cast.hpp"
#include "tilewright/ops/mean.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright::layers {

struct RMSNormOptions {
  double eps = 1e-6;
};

/// x / sqrt(mean(x^2) + eps) weight, along the last axis ("Root Mean Square Layer Normalization", arXiv 1910.07467). x: (..., n),
/// float16, bfloat16, float32 or float64; result: the same. Half precision is normalised in float32.
///
/// Variable, of x's dtype: `weight` (n,), ones.
template <RMSNormOptions options = {}>
struct RMSNorm : Module<RMSNorm<options>> {
  constexpr Tensor build(Tensor x) {
    if (!tilewright::detail::check_parameter(x.ir(), "RMSNorm", "eps", options.eps)) return x;
    const Tensor weight = this->add_variable_input("weight", ones(), {x.shape(-1)}, x.dtype());
    const Tensor wide = ops::cast(x, computed_dtype(x.dtype()));
    return ops::cast(wide * (1 / ops::sqrt(ops::mean(wide * wide, {-1}, true) + options.eps)), x.dtype()) * weight;
  }
};

}  // namespace tilewright::layers
