#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Counts how many elements of each stream a run takes or gives, a conditional with the branch that takes more, and gives the
/// host's arrays so many, or all of them num_host_transfers. Errors: more than num_host_transfers; too many axes.
constexpr void check_transfers(Ir& ir, Plan& plan) {
  using Transfers = List<std::int64_t>;  // by stream
  List<Transfers> of_body(plan.bodies.size(), Transfers(plan.streams.size(), 0));
  for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[b].first_step + s)];
      if (step.stream >= 0) ++of_body[b][static_cast<std::size_t>(step.stream)];
      if (!step.is_call()) continue;
      const Transfers& called = of_body[static_cast<std::size_t>(step.target)];
      const Transfers& otherwise = of_body[static_cast<std::size_t>(step.else_target < 0 ? step.target : step.else_target)];
      for (std::size_t i = 0; i < called.size(); ++i) of_body[b][i] += step.count * std::max(called[i], otherwise[i]);
    }
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    PlannedStream& stream = plan.streams[i];
    if (!stream.used) continue;
    const std::int64_t moved = of_body[0][i] + stream.elements;
    stream.transfers = plan.num_host_transfers > 0 ? plan.num_host_transfers : std::max<std::int64_t>(moved, 1);
    const int more_axes = (stream.transfers > 1 ? 1 : 0) + (plan.replicas > 1 ? 1 : 0);
    if (stream.spec.shape.rank + more_axes > max_rank)
      ir.fail(text("stream: '", stream.name, "' of shape ", to_text(stream.spec.shape), " with ",
                   plan.num_host_transfers > 0 ? "num_host_transfers " : "transfers in a run: ", stream.transfers, " and ",
                   plan.replicas, " replicas: at most ", max_rank - more_axes, " axes expected"));
    if (moved > stream.transfers)
      ir.fail(text("stream: '", stream.name, "' moves ", moved, " tensors in a run: at most num_host_transfers, ",
                   stream.transfers, ", expected"));
  }
}

}  // namespace tilewright
