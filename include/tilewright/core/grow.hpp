#pragma once
#include <cstddef>

#include "tilewright/core/list.hpp"

namespace tilewright {

/// Makes room for `count` more items, and for many others: in constant expressions an item that moves costs some ten calls, and
/// room that is never used costs nothing.
template <class T>
constexpr void make_room(List<T>& list, std::size_t count = 1) {
  const std::size_t needed = list.size() + count;
  if (needed > list.capacity()) list.reserve(4 * needed + 12);
}

}  // namespace tilewright
