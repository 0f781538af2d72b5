#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Checks that a run takes and gives no more elements of a stream than the host's arrays have.
constexpr void check_transfers(Ir& ir, const Plan& plan) {
  std::vector<std::int64_t> runs(plan.bodies.size(), 0), transfers;
  for (const PlannedStream& stream : plan.streams) transfers.push_back(stream.elements);
  runs[0] = 1;
  for (std::size_t i = 0; i < plan.bodies.size(); ++i)  // callers come before what they call
    for (int s = 0; s < plan.bodies[i].step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[i].first_step + s)];
      if (step.kind == StepKind::call) runs[static_cast<std::size_t>(step.target)] += runs[i];
      if (step.stream >= 0) transfers[static_cast<std::size_t>(step.stream)] += runs[i];
    }
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (transfers[i] > plan.num_host_transfers)
      ir.fail(text("stream: '", plan.streams[i].name, "' moves ", transfers[i], " tensors in a run: at most num_host_transfers, ",
                   plan.num_host_transfers, ", expected"));
}

}  // namespace tilewright
