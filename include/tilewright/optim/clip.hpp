#pragma once
#include <span>

#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/cast.hpp"
#include "tilewright/ops/reductions.hpp"
#include "tilewright/ops/select.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright::optim {

/// Scales gradients whose norm, of all elements of all together, is above max_norm, by max_norm / (norm + 1e-6), as
/// torch.nn.utils.clip_grad_norm_. gradients: float16 or float32, of any shapes; each is replaced by the scaled one. Result: the
/// norm before, a float32 scalar. Squares are added in float32.
///
/// All gradients must be there before the first is used: they are in memory at the same time. Errors: max_norm not above 0; no
/// gradients.
constexpr Tensor clip_by_global_norm(std::span<Tensor> gradients, double max_norm) {
  if (gradients.empty()) throw TraceError("clip_by_global_norm: no gradients: at least one expected");
  Ir& ir = gradients[0].ir();
  if (!(max_norm > 0)) return ir.fail(text("clip_by_global_norm: a norm of ", number_text(max_norm), ": above 0 expected"));
  Tensor sum;
  for (const Tensor& gradient : gradients) {
    const Tensor squares = ops::sumsquare(gradient.dtype() == float32 ? gradient : ops::cast(gradient, float32));
    sum = sum.valid() ? sum + squares : squares;
  }
  const Tensor norm = ops::sqrt(sum);
  const Tensor scale = ops::minimum(max_norm / (norm + 1e-6), 1);
  for (Tensor& gradient : gradients)
    gradient = gradient * (gradient.dtype() == float32 ? scale : ops::cast(scale, gradient.dtype()));
  return norm;
}

}  // namespace tilewright::optim
