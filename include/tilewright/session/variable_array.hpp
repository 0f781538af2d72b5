#pragma once
#include <cstddef>
#include <string_view>

#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"

namespace tilewright::detail {

/// Use of a host's array for new values of a variable.
template <const auto& plan, std::size_t v>
struct VariableArray {
  static constexpr TensorSpec spec = host_spec(plan, v);
  static constexpr std::string_view name() { return plan.variable_name(v); }
  static constexpr Text note() { return {}; }
};

}  // namespace tilewright::detail
