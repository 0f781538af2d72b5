#pragma once
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/scaled_add.hpp"
#include "tilewright/ops/unary.hpp"
#include "tilewright/ops/var_updates.hpp"

namespace tilewright::optim::detail {

/// weight = weight - lr step.
constexpr void descend(Tensor weight, Tensor step, const NumberOrTensor& lr) {
  if (lr.tensor) ops::scaled_add_(weight, step, {.b = -*lr.tensor});
  else ops::scaled_add_(weight, step, {.b = -lr.number});
}

}  // namespace tilewright::optim::detail
