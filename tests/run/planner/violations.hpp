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

/// What the verifier says of a draft that `break_it(draft, plan)` changed after a pass.
template <class Break>
std::string violation_of_draft(const Case& of, Pass after, Break&& break_it) {
  std::string violation = "the pass did not run";
  tw::lower(tw::prepare(*tw::trace(of.program, of.target), of.target), [&](const auto&... given) {
    if constexpr (sizeof...(given) == 4) {
      [&]<class Draft>(Pass pass, BodyId body, const Draft& draft, const Plan& plan) {
        if constexpr (std::is_invocable_v<Break&, Draft&, Plan&>) {  // else it breaks what is on tiles
          if (pass != after || body != BodyId::main) return;
          REQUIRE(tw::internal::find_violation(draft, after, body, plan).string().empty());
          Draft broken = draft;
          Plan broken_plan = plan;
          break_it(broken, broken_plan);
          violation = tw::internal::find_violation(broken, after, body, broken_plan).string();
        }
      }(given...);
    }
  });
  return violation;
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
