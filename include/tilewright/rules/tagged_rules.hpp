#pragma once
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright::detail {

/// Rules of one of the library's ops for one kind of machine.
template <class Rules>
struct TaggedRules {
  const OpTag* op = nullptr;
  Rules rules{};
};

template <class Rules>
inline constexpr Rules no_rules{};

/// Returns the rules that an op states, or those of its tag in the table of the library's ops, or none.
template <class Rules>
constexpr const Rules& find_rules(const OpInfo& op, const Rules* stated, std::span<const TaggedRules<Rules>> table) {
  if (stated) return *stated;
  for (const TaggedRules<Rules>& each : table)
    if (each.op == op.tag) return each.rules;
  return no_rules<Rules>;
}

}  // namespace tilewright::detail
