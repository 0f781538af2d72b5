#pragma once
// takes: a whole plan
// gives: errors: more transfers of a stream than the host has elements
// keeps: the plan
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Checks that the host can have arrays for the streams, and that a run takes and gives no more elements of a stream than these
/// have. A conditional counts with the
/// branch that takes more.
constexpr void check_transfers(Ir& ir, const Plan& plan) {
  using Transfers = List<std::int64_t>;  // by stream
  List<Transfers> of_body(plan.bodies.size(), Transfers(plan.streams.size(), 0));
  for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[b].first_step + s)];
      if (step.stream >= 0) ++of_body[b][static_cast<std::size_t>(step.stream)];
      if (!step.is_call()) continue;
      const Transfers& called = of_body[static_cast<std::size_t>(step.body)];
      const Transfers& otherwise = of_body[static_cast<std::size_t>(step.else_body < 0 ? step.body : step.else_body)];
      for (std::size_t i = 0; i < called.size(); ++i) of_body[b][i] += step.count * std::max(called[i], otherwise[i]);
    }
  const int more_axes = (plan.num_host_transfers > 1 ? 1 : 0) + (plan.replicas > 1 ? 1 : 0);
  for (std::size_t i = 0; i < plan.streams.size(); ++i)
    if (const Shape& shape = plan.streams[i].spec.shape; plan.streams[i].used && shape.rank + more_axes > max_rank)
      ir.fail(text("stream: '", plan.streams[i].name, "' of shape ", to_text(shape), " with num_host_transfers ",
                   plan.num_host_transfers, " and ", plan.replicas, " replicas: at most ", max_rank - more_axes,
                   " axes expected"));
  for (std::size_t i = 0; i < plan.streams.size(); ++i)
    if (const std::int64_t transfers = of_body[0][i] + plan.streams[i].elements; transfers > plan.num_host_transfers)
      ir.fail(text("stream: '", plan.streams[i].name, "' moves ", transfers, " tensors in a run: at most num_host_transfers, ",
                   plan.num_host_transfers, ", expected"));
}

}  // namespace tilewright
