#pragma once
#include "tilewright/core/list.hpp"
#include "tilewright/graph/gradient_rule.hpp"
#include "tilewright/graph/op_created_hook.hpp"

namespace tilewright::detail {

/// Functions that a trace has of those who trace. A copy is empty, because the functions belong to them.
struct TraceFunctions {
  List<OpCreatedHook> op_created_hooks{};  ///< registered at graphs, in the order of their registration
  List<GradientRule> gradient_rules{};     ///< in the order of their graphs

  constexpr TraceFunctions() = default;
  constexpr TraceFunctions(const TraceFunctions&) {}
  constexpr TraceFunctions(TraceFunctions&&) noexcept = default;
  constexpr TraceFunctions& operator=(TraceFunctions&&) noexcept = default;
};

}  // namespace tilewright::detail
