#pragma once

#include "tilewright/core/span.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/ops/shape/concat.hpp"

namespace tilewright::optim {

namespace detail {

/// Returns the norm of all elements of all gradients, in float32.
constexpr Tensor global_norm(Span<const Tensor> gradients) {
  List<Tensor> norms;
  for (const Tensor& gradient : gradients) norms.push_back(ops::l2(ops::cast(gradient, float32)).reshape({1}));
  return norms.size() == 1 ? norms[0].reshape({}) : ops::l2(ops::concat(norms, 0));
}
/// Returns the factor that clips gradients of the given norm.
constexpr Tensor clip_factor(Tensor norm, double max_norm) { return ops::minimum(max_norm / (norm + 1e-6), 1); }

/// Checks that the gradients can be clipped to the norm; fails if not.
constexpr bool check_clip(Span<const Tensor> gradients, double max_norm) {
  if (gradients.empty()) TW_THROW TraceError("clip_by_global_norm: no gradients: at least one expected");
  if (max_norm > 0) return true;
  gradients[0].ir().fail(text("clip_by_global_norm: max_norm ", number_text(max_norm), ": above 0 expected"));
  return false;
}

}  // namespace detail

/// Clips gradients by their global norm: if the norm of all elements of all gradients is above max_norm, multiplies each gradient
/// by max_norm / (norm + 1e-6), as torch.nn.utils.clip_grad_norm_ does. gradients: float16, bfloat16 or float32, of any shapes;
/// the call replaces each by the scaled one. Returns the norm before scaling, a float32 scalar. Squares are summed in float32.
///
/// All gradients must be computed before the first is used, so all are in memory at the same time. Errors: max_norm not above 0;
/// no gradients.
constexpr Tensor clip_by_global_norm(Span<Tensor> gradients, double max_norm) {
  if (!detail::check_clip(gradients, max_norm)) return Tensor::invalid(gradients[0].ir());
  const Tensor norm = detail::global_norm(gradients), scale = detail::clip_factor(norm, max_norm);
  for (Tensor& gradient : gradients)
    gradient = gradient * (is_half(gradient.dtype()) ? scale : ops::cast(scale, gradient.dtype()));
  return norm;
}

}  // namespace tilewright::optim
