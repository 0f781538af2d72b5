#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal::detail {

/// The bodies that run in a step: none, that of a call or loop, or both of a conditional.
constexpr FixedVector<BodyId, 2> called_bodies(const Step& step) {
  FixedVector<BodyId, 2> bodies;
  if (!step.is_call()) return bodies;
  bodies.push_back(step.body);
  if (step.else_body != BodyId::none) bodies.push_back(step.else_body);
  return bodies;
}

/// Adds up what the steps of a run have, through calls: a total of the main body. `none` is the total of no steps;
/// `add_step(total, s)` adds what step number s of the plan has, which calls nothing itself; `add_call(total, times, one, other)`
/// adds `times` what a called body has: a conditional counts with the larger of both branches, number by number, others with the
/// same body twice. Steps come in the order of their numbers.
template <class Total>
constexpr Total fold_bodies(const Plan& plan, const Total& none, const auto& add_step, const auto& add_call) {
  List<Total, BodyId> totals(plan.bodies.size(), none);
  for (std::size_t i = plan.bodies.size(); i-- > 0;) {  // callers come before what they call, and have later steps
    const auto b = BodyId(i);
    const Body& body = plan.bodies[b];
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
      const Step& step = plan.steps[s];
      add_step(totals[b], s);
      if (step.is_call())
        add_call(totals[b], step.count, totals[step.body], totals[step.else_body == BodyId::none ? step.body : step.else_body]);
    }
  }
  return totals[BodyId::main];
}
constexpr void add_larger(std::int64_t& total, std::int64_t times, std::int64_t one, std::int64_t other) {
  total += times * std::max(one, other);
}

}  // namespace tilewright::internal::detail
