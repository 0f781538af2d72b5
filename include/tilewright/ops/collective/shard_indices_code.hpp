#pragma once
#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/ops/collective/shard_indices.hpp"

namespace tilewright {

template <PackedAttributes A, class J, class R, class P>
inline void ShardIndices::compute_checked(Faults faults, J indices, R replica, P places) {
  constexpr auto attributes = unpack<Attributes>(A);
  const std::int64_t first = static_cast<std::int64_t>(*replica.data) * attributes.shard;
  kernel::assign_elements(
      [&](typename J::element given) {
        const auto index = static_cast<std::int64_t>(given);
        if (attributes.ignores != 0 && index == attributes.ignore_index) return std::int32_t{-1};
        if (index < 0 || index >= attributes.count) {
          faults.report(index);
          return std::int32_t{-1};
        }
        const bool is_here = index >= first && index < first + attributes.shard;
        return static_cast<std::int32_t>(is_here ? index - first : attributes.shard);
      },
      places, indices);
}

}  // namespace tilewright
