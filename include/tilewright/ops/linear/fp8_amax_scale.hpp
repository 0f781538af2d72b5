#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/linear/float8.hpp"
#include "tilewright/ops/reduce/reductions.hpp"

namespace tilewright::ops {

/// Returns the log2_scale for pow2scale_then_cast with which the largest element of t just fits, as a scalar int32 tensor:
/// floor(log2(m / max |t|)), where m is the dtype's largest number, 240 or 57,344. The result is at least -31, with which larger
/// elements still overflow, and at most 31. t: any shape, float16, bfloat16 or float32; dtype: float8_143 or float8_152. Zeros
/// give 31; if an element is NaN, the result is 0. No gradient. Errors: other dtypes.
///
///     const Tensor scale = ops::fp8_amax_scale(x, tw::float8_143);
///     const Tensor small = ops::pow2scale_then_cast(x, scale, tw::float8_143);
template <class...>
[[nodiscard]] constexpr Tensor fp8_amax_scale(Tensor t, DType dtype) {
  if (!t.is_usable()) return t;
  if (!is_float8(dtype) || !computes_in_float(t.dtype()))
    return t.ir().fail(text("fp8_amax_scale: ", to_text(t), " for ", to_text(dtype),
                            ": float16, bfloat16 or float32 for float8_143 or float8_152 expected"));
  const double largest = dtype == float8_143 ? 240 : 57344;
  const Tensor most = (max)(abs(t.detach())).cast(float32);
  return clip(floor(log2(largest / most)), -31, 31).cast(int32);
}

}  // namespace tilewright::ops
