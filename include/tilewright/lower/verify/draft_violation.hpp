#pragma once
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/lower/pass.hpp"

namespace tilewright::internal::detail {

/// Base of checks of a draft. It holds the first violation after a pass, `rule: what was given: what was expected, in body 2
/// after fuse`. `plan` is the plan so far.
class DraftViolation {
 public:
  constexpr DraftViolation(const BodyDraft& draft, Pass after, BodyId body, const Plan& plan)
      : draft_(draft), after_(after), body_(body), plan_(plan) {}

 protected:
  /// Records the first violation: the rule, the operation (-1: none), what is given and what is expected.
  constexpr bool expect(bool holds, std::string_view rule, int operation, const auto&... given_and_expected) {
    if (holds || !violation_.empty()) return holds;
    violation_ = text(rule, ": ");
    if (operation >= 0) {
      const OpInfo* const op = draft_.operations[operation].op;
      violation_ += text("operation ", operation, " (", op ? op->name : std::string_view("call"), ") ");
    }
    violation_ += text(given_and_expected..., ", in body ", body_, " after ", name_of(after_));
    return false;
  }
  constexpr int count() const { return static_cast<int>(draft_.operations.size()); }
  static constexpr int operand_count(const Operation& operation) { return static_cast<int>(operation.operands.size()); }
  constexpr int group_count() const { return static_cast<int>(draft_.groups.size()); }

  const BodyDraft& draft_;
  Pass after_;
  BodyId body_;  // the draft's
  const Plan& plan_;
  Text violation_{};  // empty: none
};

}  // namespace tilewright::internal::detail
