#pragma once
#include <span>
#include <utility>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright::detail {

template <class Rules>
inline constexpr Rules no_rules{};

/// Returns the rules that an op states, or those of its tag in the table of the library's ops, or none.
template <class Rules>
constexpr const Rules& find_rules(const OpInfo& op, const Rules* stated, std::span<const std::pair<const OpTag*, Rules>> table) {
  if (stated) return *stated;
  for (const auto& [tag, rules] : table)
    if (tag == op.tag) return rules;
  return no_rules<Rules>;
}

}  // namespace tilewright::detail
