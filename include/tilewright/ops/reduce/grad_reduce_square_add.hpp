#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::ops {

/// Returns the sum of (t / loss_scaling)^2 over all elements: a gradient's part of the square of a global norm. t: any shape,
/// float16, bfloat16, float32 or float64. loss_scaling: a number above 0, or a tensor of one element. Result: a scalar, float32,
/// or float64 for t of float64; elements are divided before they are squared, so scaled gradients do not leave its range. Not
/// replicated: add the results of replicas that have different parts of a weight by replicated_all_reduce.
///
/// Errors: t of another dtype; a loss_scaling that is not above 0, or not of one element.
[[nodiscard]] constexpr Tensor grad_reduce_square_add(Tensor t, const NumberOrTensor& loss_scaling = 1) {
  if (!t.is_usable()) return t;
  const auto fail = [&](const auto&... message) {
    return t.ir().fail(text("grad_reduce_square_add: ", message..., " expected"));
  };
  if (!is_floating_point(t.dtype()) || !has_arithmetic(t.dtype())) return fail(to_text(t.spec()), ": ", floating_point_dtypes());
  const Tensor elements = t.cast(t.dtype() == float64 ? float64 : float32);
  if (!loss_scaling.tensor) {
    if (!detail::check_above_0(t.ir(), "grad_reduce_square_add", "loss_scaling", loss_scaling.number))
      return Tensor::invalid(t.ir());
    return sumsquare(loss_scaling.number == 1 ? elements : elements / loss_scaling.number);
  }
  const Tensor scale = *loss_scaling.tensor;
  if (!scale.is_usable()) return scale;
  if (scale.nelms() != 1 || !is_floating_point(scale.dtype()))
    return fail("loss_scaling ", to_text(scale.spec()), ": one element of floating point");
  return sumsquare(elements / scale.reshape({}).cast(elements.dtype()));
}

}  // namespace tilewright::ops
