#pragma once
#include "tilewright/core/requirements.hpp"

#include <string_view>
#include <utility>

#include "tilewright/execute/program.hpp"
#include "tilewright/transform/prepare.hpp"
#include "tilewright/verified/plan_run.hpp"

namespace tilewright {

/// Proves that a plan does what the graphs of a prepared program say: `fault_of_plan(prepared, lower(prepared))`. Returns the
/// first fault, `rule: what was given: what was expected, in step 3 of body 2`; an empty text: the plan is proven. `plan`: a
/// Plan, or a frozen one. It runs graphs and plan on names of values in place of numbers, with each call and iteration, so its
/// time grows with the steps that a run makes, not with the sizes of tensors. Rules: docs/architecture.md.
/// `ignored`: a rule that is not checked.
constexpr Text fault_of_plan(const Prepared& prepared, const auto& plan, std::string_view ignored = {}) {
  internal::proof::detail::ValueTerms terms;
  const internal::proof::detail::RunEffects expected =
      internal::proof::detail::GraphRun(prepared.ir(), terms, {plan.stages.data(), plan.stages.size()}).run();
  internal::proof::detail::PlanRun run(plan, terms);
  run.ignore(ignored);
  return run.run(expected);
}

namespace internal::proof::detail {
template <auto build, Target target>
consteval bool is_proven() {
  Ir ir;
  trace_for(target, build, ir);
  return fault_of_plan(prepare(std::move(ir), target), Program<build, target>::plan).empty();
}
}  // namespace internal::proof::detail

/// Whether the frozen plan of a program for a target, which a session runs, is proven to do what its graphs say:
/// `static_assert(tw::verified<program, tw::cpu>)`. If it is false, `fault_of_plan` tells at run time what is wrong.
template <auto program, Target target = cpu>
inline constexpr bool verified = internal::proof::detail::is_proven<program, target>();

}  // namespace tilewright
