#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/distributed/planned_collective.hpp"
#include "tilewright/lower/barriers.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// When the hierarchical all-reduce of a step starts, and where its tensors are.
struct BatchedAllReduce {
  int step = 0;   ///< in the plan's steps: where the result is there at the latest
  int start = 0;  ///< the step of the batch, at which it starts: `step`, or that of an all-reduce before it
  /// Bytes from the input of the batch's step to this one's input and output, on each replica. Not read if `start` is `step`.
  std::int64_t input = 0, output = 0;
};

namespace detail {

// Steps of a body that are looked at before an all-reduce. Each is compared with all that it passes.
inline constexpr int most_steps_before = 256;

/// The first step at which an all-reduce can start: the step of another one, in the same body, from which on its input stays as
/// it is and, unless its result is `kept_apart` until its own step, nothing uses its output. Steps of called bodies are not
/// looked at. All three tensors are in the body's frame.
int earliest_start(const auto& plan, std::span<const List<Access>> accesses, const Body& body, int step, bool kept_apart,
                   auto is_hierarchical) {
  const auto location = [&](int s, bool output) {
    const Step& at = plan.steps[static_cast<std::size_t>(s)];
    return plan.locations[static_cast<std::size_t>(output ? at.first_location + at.location_count - 1 : at.first_location)];
  };
  if (location(step, false).base != Base::frame || location(step, true).base != Base::frame) return step;
  int start = step;
  for (int before = step - 1; before >= std::max(body.first_step, step - most_steps_before); --before) {
    const Step& other = plan.steps[static_cast<std::size_t>(before)];
    if (other.is_call()) break;
    for (std::size_t i = 0; i < accesses[static_cast<std::size_t>(step)].size(); ++i) {
      Access own = accesses[static_cast<std::size_t>(step)][i];
      if (kept_apart) {
        if (i > 0) break;  // the output
        own.writes = false;
      }
      own.single = false;  // other threads run the other step
      for (const Access& access : accesses[static_cast<std::size_t>(before)])
        if (conflict(own, access)) return start;
    }
    if (is_hierarchical(other) && location(before, false).base == Base::frame) start = before;
  }
  return start;
}

}  // namespace detail

/// The hierarchical all-reduces of a frozen plan, in the order of their steps. `is_hierarchical` says of a step whether it is
/// one, `is_kept_apart` of one of them whether its result is not in its output before its own step.
std::vector<BatchedAllReduce> batched_all_reduces(const auto& plan, auto is_hierarchical, auto is_kept_apart) {
  std::vector<List<detail::Access>> accesses(plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (plan.steps[s].kind == StepKind::compute || plan.steps[s].kind == StepKind::collective)
      accesses[s] = detail::accesses_of(plan, plan.steps[s]);
  std::vector<BatchedAllReduce> result;
  for (const Body& body : plan.bodies)
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(s)];
      if (!is_hierarchical(step)) continue;
      BatchedAllReduce all_reduce{.step = s,
                                  .start = detail::earliest_start(plan, accesses, body, s, is_kept_apart(step), is_hierarchical)};
      const std::int64_t from =
          plan.locations[static_cast<std::size_t>(plan.steps[static_cast<std::size_t>(all_reduce.start)].first_location)].offset;
      all_reduce.input = plan.locations[static_cast<std::size_t>(step.first_location)].offset - from;
      all_reduce.output = plan.locations[static_cast<std::size_t>(step.first_location + step.location_count - 1)].offset - from;
      result.push_back(all_reduce);
    }
  return result;
}

}  // namespace tilewright::internal
