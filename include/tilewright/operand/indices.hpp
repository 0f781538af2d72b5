#pragma once
#include <cstdint>

#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Elements that an index addresses.
enum class IndexForm : std::int64_t {
  rows,  ///< all elements at its position of the indexed axis
  groups,  ///< all elements at its position within one element of axis 0, which the indices have, too
  elements  ///< one element: the indices have all axes of the tensor
};

/// Returns an index as a number that is too large if the index is negative.
template <class J>
[[gnu::always_inline]] inline std::uint64_t index_number(J index) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(index));
}

/// Returns the number along an axis at which a block begins, from the view of its positions.
template <class P>
inline std::int64_t block_begin(P positions, int axis) {
  const std::int64_t number = position_of(positions) / P::spec.stride(axis);
  return axis == 0 ? number : number % (P::spec.stride(axis - 1) / P::spec.stride(axis));
}

}  // namespace tilewright::kernel
