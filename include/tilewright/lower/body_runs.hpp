#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// How often each body runs in one run of the program.
constexpr std::vector<std::int64_t> count_body_runs(const Plan& plan) {
  std::vector<std::int64_t> runs(plan.bodies.size(), 0);
  runs[0] = 1;
  for (std::size_t i = 0; i < plan.bodies.size(); ++i)  // callers come before what they call
    for (int s = 0; s < plan.bodies[i].step_count; ++s)
      if (const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[i].first_step + s)]; step.kind == StepKind::call)
        runs[static_cast<std::size_t>(step.target)] += runs[i];
  return runs;
}

}  // namespace tilewright
