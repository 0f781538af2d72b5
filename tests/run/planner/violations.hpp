#pragma once
// What the verifier says of drafts, and the proof of plans, that are broken on purpose.
#include <string>
#include <string_view>
#include <tilewright/lower/print_passes.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/lower_verified.hpp>
#include <type_traits>

#include "../../catch.hpp"

namespace violations {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::internal::BodyDraft, tw::internal::BodyId, tw::internal::Pass, tw::Plan, tw::internal::StorageId, tw::Tensor;

inline Tensor load(tw::Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ops::host_load(ir.h2d_stream(name, shape, dtype));
}
inline void store(tw::Ir& ir, std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); }

struct Case {
  std::string name;
  void (*program)(tw::Ir&);
  tw::Target target = tw::cpu;
};

/// Plans a program, and calls `change(draft, plan)` with those of the main body after a pass.
template <class Change>
Plan lower_changed(const tw::Prepared& prepared, Pass after, Change&& change) {
  bool has_run = false;
  const Plan plan = tw::lower(prepared, [&](const auto&... given) {
    if constexpr (sizeof...(given) == 4) {
      [&]<class Draft>(Pass pass, BodyId body, const Draft& draft, const Plan& plan_so_far) {
        if constexpr (std::is_invocable_v<Change&, Draft&, Plan&>) {  // else it changes what is on tiles
          if (pass != after || body != BodyId::main) return;
          has_run = true;
          change(const_cast<Draft&>(draft), const_cast<Plan&>(plan_so_far));
        }
      }(given...);
    }
  });
  REQUIRE(has_run);
  return plan;
}
/// What the verifier says of a draft that `break_it(draft, plan)` changed after a pass.
template <class Break>
std::string violation_of_draft(const Case& of, Pass after, Break&& break_it) {
  std::string violation;
  const auto look = [&](auto& draft, Plan& plan)
    requires std::is_invocable_v<Break&, decltype(draft), Plan&>
  {
    REQUIRE(tw::internal::find_violation(draft, after, BodyId::main, plan).string().empty());
    auto broken = draft;
    Plan broken_plan = plan;
    break_it(broken, broken_plan);
    violation = tw::internal::find_violation(broken, after, BodyId::main, broken_plan).string();
  };
  lower_changed(tw::prepare(*tw::trace(of.program, of.target), of.target), after, look);
  return violation;
}
/// By which rule the proof refuses the plan of a program whose draft `break_it(draft, plan)` changed after a pass; empty: by
/// none.
template <class Break>
std::string rule_of_draft(const Case& of, Pass after, Break&& break_it) {
  const tw::Prepared prepared = tw::prepare(*tw::trace(of.program, of.target), of.target);
  const std::string fault = tw::fault_of_plan(prepared, lower_changed(prepared, after, break_it)).string();
  return fault.substr(0, fault.find(':'));
}
/// What the proof says of a plan that `break_it(plan)` changed, without the step.
template <class Break>
std::string fault_of(const Case& of, Break&& break_it) {
  const tw::Prepared prepared = tw::prepare(*tw::trace(of.program, of.target), of.target);
  Plan plan = tw::lower_verified(prepared);
  break_it(plan);
  const std::string fault = tw::fault_of_plan(prepared, plan).string();
  return fault.substr(0, fault.find(", in step "));
}
/// Checks that the part of what print_passes gives which begins with `title` has a text.
inline void check_part(std::string_view printed, std::string_view title, std::string_view text) {
  const auto begin = printed.find(title);
  REQUIRE(begin != printed.npos);
  const std::string part(printed.substr(begin, printed.find("\nBody", begin) - begin));
  INFO(part);
  CHECK(part.find(text) != part.npos);
}

}  // namespace violations
