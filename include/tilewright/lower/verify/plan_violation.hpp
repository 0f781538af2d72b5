#pragma once
#include <string_view>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal::detail {

/// Base of checks of a plan. It holds the first violation, `rule: what was given: what was expected, in step 3 of body 2`.
class PlanViolation {
 public:
  constexpr explicit PlanViolation(const Plan& plan) : plan_(plan) {}

 protected:
  /// Records the first violation: the rule, what is given and what is expected.
  constexpr bool expect(bool holds, std::string_view rule, const auto&... given_and_expected) {
    if (!holds && violation_.empty()) violation_ = text(rule, ": ", given_and_expected..., where_);
    return holds;
  }
  constexpr const Stage& stage(const ComputeSet& set, int s) const { return plan_.stages[set.first_stage + s]; }

  const Plan& plan_;
  Text where_{};  // in which step or set rules are checked
  Text violation_{};  // empty: none
};

}  // namespace tilewright::internal::detail
