#pragma once
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/update/var_updates.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::optim::detail {

/// Computes weight = weight - lr step in place. Fails for a rate that is negative, infinite or NaN.
constexpr void descend(Tensor weight, Tensor step, const NumberOrTensor& lr) {
  if (!tilewright::detail::check_parameter(weight.ir(), "optimiser", "lr", lr)) return;
  if (lr.tensor) ops::scaled_add_(weight, step, {.b = -*lr.tensor});
  else ops::scaled_add_(weight, step, {.b = -lr.number});
}

}  // namespace tilewright::optim::detail
