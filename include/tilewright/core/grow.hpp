#pragma once
#include <cstddef>

#include "tilewright/core/list.hpp"

namespace tilewright {

/// Allocates room for `count` more items, and for many beyond them. In constant expressions, moving an item costs about ten
/// calls, and unused room costs nothing.
template <class T, class Index>
constexpr void make_room(List<T, Index>& list, std::size_t count = 1) {
  const std::size_t needed = list.size() + count;
  if (needed > list.capacity()) list.reserve(4 * needed + 12);
}

}  // namespace tilewright
