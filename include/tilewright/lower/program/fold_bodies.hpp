#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal::detail {

/// Returns the bodies that run in a step: none, one for a call or loop, or both for a conditional.
constexpr FixedVector<BodyId, 2> called_bodies(const Step& step) {
  FixedVector<BodyId, 2> bodies;
  if (!step.is_call()) return bodies;
  bodies.push_back(step.body);
  if (step.else_body != BodyId::none) bodies.push_back(step.else_body);
  return bodies;
}

/// Returns how often a run executes each body; both branches of a conditional count.
constexpr List<std::int64_t, BodyId> runs_of_bodies(const Plan& plan) {
  List<std::int64_t, BodyId> runs(plan.bodies.size(), 0);
  for (std::size_t b = 0; b < plan.bodies.size(); ++b) {  // callers come before what they call
    if (plan.is_root(BodyId(b))) runs[BodyId(b)] = 1;
    const Body& body = plan.bodies[BodyId(b)];
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s)
      for (const BodyId called : called_bodies(plan.steps[s])) runs[called] += runs[BodyId(b)] * plan.steps[s].count;
  }
  return runs;
}
/// Returns whether a step calls a body for which `reaches` is true.
constexpr bool calls_any(const Step& step, const List<bool, BodyId>& reaches) {
  for (const BodyId called : called_bodies(step))
    if (reaches[called]) return true;
  return false;
}
/// Returns by body whether it is `target`, or calls it, directly or through others.
constexpr List<bool, BodyId> bodies_that_reach(const Plan& plan, BodyId target) {
  List<bool, BodyId> reaches(plan.bodies.size(), false);
  reaches[target] = true;
  for (auto b = static_cast<std::size_t>(target); b-- > 0;) {
    const Body& body = plan.bodies[BodyId(b)];
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s)
      if (calls_any(plan.steps[s], reaches)) reaches[BodyId(b)] = true;
  }
  return reaches;
}

/// Sums a figure over the steps of a run, through calls, to a total of the main body. `plan` has any plan type, and `totals` has
/// one empty total for each body. `add_body(total, body)` adds the steps of a body without calls. `add_call(total, times, one,
/// other)` adds `times` executions of a called body. `one` and `other` are the totals of both branches of a conditional, of which
/// one runs; for other calls they are equal. Bodies come from the last to the first, which is the order of their steps.
template <class Total>
constexpr const Total& fold_calls(const auto& plan, Total* totals, const auto& add_body, const auto& add_call) {
  const auto* const bodies = plan.bodies.data();
  for (std::size_t b = plan.bodies.size(); b-- > 0;) {  // callers come before what they call, and have later steps
    const Body& body = bodies[b];
    add_body(totals[b], body);
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
      const Step& step = plan.steps.data()[s];
      if (!step.is_call()) continue;
      const BodyId other = step.else_body == BodyId::none ? step.body : step.else_body;
      add_call(totals[b], step.count, totals[static_cast<std::size_t>(step.body)], totals[static_cast<std::size_t>(other)]);
    }
  }
  return totals[0];
}
/// Calls fold_calls with a list of totals that it creates. `none` is the total of no steps. `add_step(total, s)` adds step number
/// s of the plan without calls. Steps come in the order of their numbers.
template <class Total>
constexpr Total fold_bodies(const Plan& plan, const Total& none, const auto& add_step, const auto& add_call) {
  List<Total> totals(plan.bodies.size(), none);
  const auto add_body = [&](Total& total, const Body& body) {
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s) add_step(total, s);
  };
  return fold_calls(plan, totals.data(), add_body, add_call);
}
constexpr void add_larger(std::int64_t& total, std::int64_t times, std::int64_t one, std::int64_t other) {
  total += times * (std::max)(one, other);
}

}  // namespace tilewright::internal::detail
