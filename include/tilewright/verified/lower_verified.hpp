#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/lower/verify.hpp"
#include "tilewright/verified/verified.hpp"

namespace tilewright {

/// Plans a program like `lower`, checks the result of each pass, and proves the plan. It takes several times as long: for tests,
/// and for traces at run time during work on a pass or an op. Errors: those of `lower`; a violation of a pass, or a fault of the
/// plan, as `planner: rule: ...`.
constexpr Plan lower_verified(const Prepared& prepared) {
  Plan plan = internal::lower_checked(prepared);
  if (!plan.failure.empty()) return plan;
  if (const Text fault = fault_of_plan(prepared, plan); !fault.empty()) plan.fail(text("planner: ", fault));
  return plan;
}

}  // namespace tilewright
