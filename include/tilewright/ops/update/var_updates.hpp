#pragma once
// The updates of optimisers' variables.
#include "tilewright/ops/index/scatter.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/ops/update/adam.hpp"
#include "tilewright/ops/update/lamb.hpp"

namespace tilewright::ops {
/// The updates under PopXL's names: `ops::var_updates::accumulate_` is `ops::accumulate_`.
namespace var_updates {
using ops::accumulate_;
using ops::accumulate_mean_;
using ops::accumulate_moving_average_;
using ops::accumulate_moving_average_square_;
using ops::accumulate_square_;
using ops::accumulator_scale_;
using ops::accumulator_zero_;
using ops::adam_updater;
using ops::adam_var_update;
using ops::adamax_updater;
using ops::copy_var_update_;
using ops::lamb_updater;
using ops::sparse_accumulate_;
}  // namespace var_updates
}  // namespace tilewright::ops
