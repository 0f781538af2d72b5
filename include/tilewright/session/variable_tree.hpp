#pragma once
#include <algorithm>

#include "tilewright/core/name.hpp"
#include "tilewright/session/host_array.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/session_core.hpp"

namespace tilewright {

/// The variables below a dotted path in device memory, looked up while the program compiles.
template <const auto& plan, NameText path>
class VariableTree {
 public:
  explicit VariableTree(const detail::SessionCore<ThisBuild>& core) : core_(core) {}

  /// Returns a variable as an xtensor of static shape, a view of the session's memory; or the variables below it.
  template <NameText key>
  auto operator[](Name<key>) const {
    using names = PlanNames<plan>;
    constexpr auto full = joined<key>();
    if constexpr (names::is_subtree(full.view())) {
      return VariableTree<plan, full>(core_);
    } else {
      constexpr std::size_t v = names::find_variable(full.view());
      if constexpr (v == names::none) return names::template no_variable<"variables", full>();
      else return static_view<plan.variables[v].spec.dtype, plan.variables[v].spec.shape>(core_.device_data(v));
    }
  }
  auto operator[](const std::convertible_to<std::string_view> auto& name) const { return detail::require_name(name); }

 private:
  template <NameText key>
  static consteval auto joined() {
    constexpr std::size_t length = path.view().size() + (path.view().empty() ? 0 : 1) + key.view().size();
    char characters[length + 1]{};
    auto* end = std::copy(path.view().begin(), path.view().end(), characters);
    if (!path.view().empty()) *end++ = '.';
    std::copy(key.view().begin(), key.view().end(), end);
    return NameText<length + 1>(characters);
  }
  const detail::SessionCore<ThisBuild>& core_;
};

}  // namespace tilewright
