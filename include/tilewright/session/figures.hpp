#pragma once
#include <string>

#include "tilewright/core/log/logger.hpp"
#include "tilewright/execute/recording.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::detail {

/// Calls tw::profile, if the user has included its header.
template <class Build>
auto profile_of(const Build& build, const Target& target, const auto& program) {
  if constexpr (requires { profile(build, target, program); }) return profile(build, target, program);
  else static_assert(sizeof(Build) == 0, "session.profile() needs #include <tilewright/profile/make_profile.hpp>");
}

/// Calls tw::log_figures, if the user has included its header.
template <class Build>
void log_figures_of(const Build& build, const Target& target, const Logger& logger) {
  if constexpr (requires { log_figures(build, target, logger); }) log_figures(build, target, logger);
  else static_assert(sizeof(Build) == 0, "session.log_figures() needs #include <tilewright/profile/figures.hpp>");
}

/// Returns a recording of a plan's runs with the names of the program and its steps.
Recording named_recording(Recording result, const auto& plan, const std::string& program) {
  result.program = program;
  for (const internal::Step& step : plan.steps) {
    Recording::Step named{"", step.compute_set, step.vertices * step.pieces + step.items};
    if (step.compute_set >= 0)
      named.label = internal::detail::print_stages(plan, plan.compute_sets[static_cast<std::size_t>(step.compute_set)]).string();
    else if (step.kind == internal::StepKind::load_code) named.label = "code";
    else if (step.kind == internal::StepKind::conditional) named.label = "conditional";
    else named.label = step.kind == internal::StepKind::loop ? "loop" : "call";
    result.steps.push_back(named);
  }
  return result;
}

}  // namespace tilewright::detail
