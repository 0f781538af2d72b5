#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/lower/body_runs.hpp"

namespace tilewright {

/// Checks that a run takes and gives no more elements of a stream than the host's arrays have.
constexpr void check_transfers(Ir& ir, const Plan& plan) {
  const std::vector<std::int64_t> runs = count_body_runs(plan);
  std::vector<std::int64_t> transfers;
  for (const PlannedStream& stream : plan.streams) transfers.push_back(stream.elements);
  for (std::size_t i = 0; i < plan.bodies.size(); ++i)
    for (int s = 0; s < plan.bodies[i].step_count; ++s)
      if (const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[i].first_step + s)]; step.stream >= 0)
        transfers[static_cast<std::size_t>(step.stream)] += runs[i];
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (transfers[i] > plan.num_host_transfers)
      ir.fail(text("stream: '", plan.streams[i].name, "' moves ", transfers[i], " tensors in a run: at most num_host_transfers, ",
                   plan.num_host_transfers, ", expected"));
}

}  // namespace tilewright
