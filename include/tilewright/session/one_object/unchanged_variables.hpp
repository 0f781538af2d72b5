#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Where a StaticSession has the variables that no step of its program writes, such as weights for inference.
enum class UnchangedVariables : std::uint8_t {
  in_object,
  read_only  ///< in memory of the caller that is only read, such as flash
};

namespace detail {

/// Finds the variables that no step of a frozen plan writes. Those in remote memory count as written.
template <const auto& plan>
class UnchangedFinder {
  static constexpr std::size_t most_arguments = [] {
    int most = 0;
    for (const auto& body : plan.bodies) most = (std::max)(most, body.max_arguments);
    return static_cast<std::size_t>(most);
  }();
  using Locations = std::span<const internal::Location>;
  static constexpr auto part(const auto& table, int first, int count) {
    return std::span(table).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }

 public:
  constexpr auto find() {
    for (std::size_t v = 0; v < unchanged_.size(); ++v) unchanged_[v] = plan.variables[v].base == internal::Base::variable;
    for (body_ = plan.bodies.size(); body_-- > 0;)  // bodies stand before those that they call
      for (const auto& step : part(plan.steps, plan.bodies[body_].first_step, plan.bodies[body_].step_count))
        find_in(step, part(plan.locations, step.first_location, step.location_count));
    return unchanged_;
  }

 private:
  constexpr void find_in(const internal::Step& step, Locations locations) {
    const auto count = static_cast<std::size_t>(step.arguments);
    if (step.kind == internal::StepKind::conditional) {
      call(step.body, locations.subspan(1, count));
      call(step.else_body, locations.subspan(1 + count));
    } else if (step.is_call()) {
      for (; !locations.empty() && count > 0; locations = locations.subspan(count)) call(step.body, locations.first(count));
    } else if (step.compute_set >= 0) {
      const auto& set = plan.compute_sets[static_cast<std::size_t>(step.compute_set)];
      for (const auto& stage : part(plan.stages, set.first_stage, set.stage_count))
        for (const auto& output :
             part(plan.operands, stage.first_operand + stage.input_count, stage.operand_count - stage.input_count))
          if (output.source == internal::Source::memory) write(locations[static_cast<std::size_t>(output.index)]);
    }
  }
  constexpr void call(internal::BodyId called, Locations arguments) {
    for (std::size_t a = 0; a < arguments.size(); ++a)
      if (arguments_[static_cast<std::size_t>(called)][a]) write(arguments[a]);
  }
  constexpr void write(const internal::Location& at) {
    if (at.base == internal::Base::argument) arguments_[body_][static_cast<std::size_t>(at.index)] = true;
    for (std::size_t v = 0; at.base == internal::Base::variable && v < unchanged_.size(); ++v)
      if (at.offset >= plan.variables[v].offset && at.offset < plan.variables[v].offset + plan.variables[v].spec.bytes())
        unchanged_[v] = false;
  }

  std::size_t body_ = 0;  // whose steps are read
  std::array<bool, plan.variables.size()> unchanged_{};
  std::array<std::array<bool, most_arguments + 1>, plan.bodies.size()> arguments_{};  // whether a body writes them
};

}  // namespace detail
}  // namespace tilewright
