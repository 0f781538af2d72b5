#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "tilewright/core/text/constant_text.hpp"
#include "tilewright/execute/budget_errors.hpp"
#include "tilewright/execute/program.hpp"

namespace tilewright {

namespace internal::detail {

using tilewright::detail::ConstantText;
using BudgetTexts = std::array<ConstantText, resource_count>;

template <Target target, Limits limits>
constexpr Text wrong_limits() {
  return check_limits(limits, target);
}
/// A variable, because Clang 19 does not destroy the text in the condition of an `if constexpr`.
template <Target target, Limits limits>
inline constexpr bool has_wrong_limits = !wrong_limits<target, limits>().empty();

/// Returns whether all figures of a plan except the stack are within their limits.
template <auto program, Target target, Limits limits>
consteval bool is_within() {
  constexpr const PlanDraft& draft = draft_of<program, target>;
  const int sets = target.ipu == nullptr ? 0 : TileSets(target).size();
  for (const Resource resource : {Resource::variables, Resource::frame, Resource::code, Resource::cycles})
    if (figure_of(draft.plan, draft.plan.tile_sets, sets, resource) > limit_of(limits, resource)) return false;
  return true;
}

template <const auto& plan, bool uses_library>
consteval StackUse stack_use() {
  StackUse use{.bytes = stack_of_plan<plan, uses_library>};
  [&]<std::size_t... set>(std::index_sequence<set...>) {
    const auto compare = [&](std::int64_t bytes, int number) {
      if (bytes > use.of_set) use.of_set = bytes, use.compute_set = number;
    };
    (compare(stack_of_set<plan, set, uses_library>(), static_cast<int>(set)), ...);
  }(std::make_index_sequence<plan.compute_sets.size()>{});
  return use;
}
/// Returns the stack of a program, if it has a limit: another program has no need of the code of kernels.
template <auto program, Target target, Limits limits>
consteval StackUse limited_stack() {
  if constexpr (limits.stack == Limits::none || draft_of<program, target>.is_too_large) return {};
  else return stack_use<Program<program, target>::plan, target.uses_library_kernels>();
}

/// The errors of a budget: evaluated once, because compilers ask for a message several times.
template <auto program, Target target, Limits limits>
inline constexpr BudgetTexts budget_texts = [] {
  Ir ir(OnError::record);
  trace_for(target, program, ir);
  const List<Text> errors = budget_errors(std::move(ir), target, limits, limited_stack<program, target, limits>());
  BudgetTexts texts;
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].set(errors[i].view());
  return texts;
}();
template <auto program, Target target, Limits limits, std::size_t resource>
constexpr const ConstantText& budget_text() {
  return budget_texts<program, target, limits>[resource];
}
/// Stops the compilation with the error of a figure that exceeds its limit.
template <auto program, Target target, Limits limits, std::size_t resource>
consteval auto require_within() {
  if constexpr (budget_texts<program, target, limits>[resource].size() > 0)
    Report<budget_text<program, target, limits, resource>>();
}

}  // namespace internal::detail

/// Asserts that a program needs at most what the limits say, and that it fits the target, as tw::require_fits does. Returns true,
/// or stops the compilation with an error for each figure that is too large. The error has the figure and its limit, the parts of
/// the figure with a remedy for each, the step, the tensors and the module with most of it. A program within its limits costs the
/// compiler no more than a session of it.
///
///     #include <tilewright/budget.hpp>
///     static_assert(tw::require_budget<train_step, tw::gc200, tw::Limits{.frame = 64 * 1024, .cycles = 200'000}>());
template <auto program, Target target, Limits limits>
consteval auto require_budget() {
  namespace detail = internal::detail;
  if constexpr (detail::has_wrong_limits<target, limits>) {
    Report<detail::wrong_limits<target, limits>>();
  } else if constexpr (require_fits<program, target>(); !detail::is_within<program, target, limits>() ||
                                                        detail::limited_stack<program, target, limits>().bytes > limits.stack) {
    [&]<std::size_t... resource>(std::index_sequence<resource...>) {
      (detail::require_within<program, target, limits, resource>(), ...);
    }(std::make_index_sequence<internal::resource_count>{});
  }
  return true;
}

}  // namespace tilewright
