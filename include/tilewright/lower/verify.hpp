#pragma once
#include <type_traits>

#include "tilewright/lower/lower.hpp"
#include "tilewright/lower/verify/groups.hpp"
#include "tilewright/lower/verify/operations.hpp"
#include "tilewright/lower/verify/steps.hpp"
#include "tilewright/lower/verify/storages.hpp"
#include "tilewright/lower/verify/tiles.hpp"

namespace tilewright::internal {

/// Returns the first violation of a draft after a pass, `rule: what was given: what was expected, in body 2 after fuse`; empty if
/// it is valid. `plan` is the plan so far: the memory outside of graphs, the called bodies, and after `place` the body itself.
template <class Draft>
constexpr Text find_violation(const Draft& draft, Pass after, BodyId body, const Plan& plan) {
  Text violation = detail::OperationsViolation(draft, after, body, plan).run();
  if (violation.empty()) violation = detail::GroupsViolation(draft, after, body, plan).run();
  if (violation.empty()) violation = detail::StoragesViolation(draft, after, body, plan).run();
  if constexpr (std::is_same_v<Draft, TileDraft>)
    if (violation.empty()) violation = detail::TilesViolation(draft, after, body, plan).run();
  if (violation.empty()) violation = detail::StepsViolation(draft, after, body, plan).run();
  return violation;
}

/// An observer of `lower` that keeps the first violation of its passes.
class PassVerifier {
 public:
  constexpr void operator()(Pass after, BodyId body, const auto& draft, const Plan& plan) {
    if (violation_.empty() && changes_draft(after)) violation_ = find_violation(draft, after, body, plan);
  }
  constexpr void operator()(const Plan&) const {}  // tw::fault_of_plan checks it
  constexpr const Text& violation() const { return violation_; }

 private:
  Text violation_{};  // empty: none
};

/// Plans a program like `lower`, and checks the result of each pass, but not the plan. Errors: those of `lower`; a violation of a
/// pass, as `planner: rule: ...`.
constexpr Plan lower_checked(const Prepared& prepared) {
  PassVerifier verifier;
  Plan plan = lower(prepared, verifier);
  if (!verifier.violation().empty()) plan.fail(text("planner: ", verifier.violation()));
  return plan;
}

}  // namespace tilewright::internal
