#pragma once
#include "tilewright/lower/lower.hpp"
#include "tilewright/lower/verify/groups.hpp"
#include "tilewright/lower/verify/operations.hpp"
#include "tilewright/lower/verify/program.hpp"
#include "tilewright/lower/verify/steps.hpp"
#include "tilewright/lower/verify/storages.hpp"
#include "tilewright/lower/verify/tables.hpp"

namespace tilewright::internal {

/// The first fault of a draft after a pass, as `rule: what was given: what was expected, in body 2 after fuse`; empty if it is
/// right. `plan` is what was made before: the memory outside of graphs, the bodies that are called, and after `place` the body
/// itself.
constexpr Text verify(const BodyDraft& draft, Pass after, BodyId body, const Plan& plan) {
  Text fault = detail::OperationsFault(draft, after, body, plan).run();
  if (fault.empty()) fault = detail::GroupsFault(draft, after, body, plan).run();
  if (fault.empty()) fault = detail::StoragesFault(draft, after, body, plan).run();
  return fault;
}
/// The first fault of a whole plan, as `rule: what was given: what was expected, in step 3 of body 2`; empty if it is right.
constexpr Text verify(const Plan& plan) {
  Text fault = detail::TablesFault(plan).run();
  if (fault.empty()) fault = detail::StepsFault(plan).run();
  if (fault.empty()) fault = detail::ProgramFault(plan).run();
  return fault;
}

/// An observer of `lower` that keeps the first fault of its passes.
class PassVerifier {
 public:
  constexpr void operator()(Pass after, BodyId body, const BodyDraft& draft, const Plan& plan) {
    if (fault_.empty()) fault_ = verify(draft, after, body, plan);
  }
  constexpr void operator()(const Plan& plan) {
    if (fault_.empty()) fault_ = verify(plan);
  }
  constexpr const Text& fault() const { return fault_; }

 private:
  Text fault_{};  // empty: none
};

/// As `lower`, but checks what each pass gives. It takes several times as long: for tests, and for traces at run time while a
/// pass or an op is written. Errors: those of `lower`; a fault of a pass, as `planner: rule: ...`.
constexpr Plan lower_verified(Ir& ir, const Target& target) {
  PassVerifier verifier;
  Plan plan = lower(ir, target, verifier);
  if (!verifier.fault().empty()) ir.fail(text("planner: ", verifier.fault()));
  return plan;
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::lower_verified;
}  // namespace tilewright
