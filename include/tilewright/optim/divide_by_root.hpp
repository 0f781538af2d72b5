#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright::optim::detail {

/// Returns gradient / (sqrt(square) + epsilon). gradient and square have the same dtype, which is also the result's.
constexpr Tensor divide_by_root(Tensor gradient, Tensor square, const NumberOrTensor& epsilon) {
  const Tensor root = ops::sqrt(square);
  if (!epsilon.tensor) return gradient / (root + epsilon.number);
  return gradient / (root + epsilon.tensor->reshape({}).cast(root.dtype()));
}

}  // namespace tilewright::optim::detail
