#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>

#include "tilewright/core/list.hpp"

namespace tilewright {

// Loops instead of the functions of std::ranges: of those, each use with types of its own takes GCC two to four megabytes.

template <class Items, class T>
constexpr bool has_item(const Items& items, const T& item) {
  for (const auto& each : items)
    if (each == item) return true;
  return false;
}

template <class T, class Index>
constexpr void reverse_items(List<T, Index>& items) {
  for (T *first = items.begin(), *last = items.end(); first < last; ++first) std::swap(*first, *--last);
}

/// Sorts a list; equal items keep their order. (It merges runs of 1, 2, 4, ... items.)
template <class T, class Index, class Less>
constexpr void sort_items(List<T, Index>& items, const Less& less) {
  const std::size_t size = items.size();
  if (size < 2) return;
  List<T, Index> others = items;
  T *from = items.data(), *to = others.data();
  for (std::size_t run = 1; run < size; run *= 2) {
    for (std::size_t begin = 0; begin < size; begin += 2 * run) {
      const std::size_t middle = (std::min)(begin + run, size), end = (std::min)(middle + run, size);
      for (std::size_t k = begin, a = begin, b = middle; k < end; ++k) {
        const bool takes_b = a == middle || (b < end && less(from[b], from[a]));
        to[k] = std::move(from[takes_b ? b++ : a++]);
      }
    }
    T* const merged = to;
    to = from;
    from = merged;
  }
  if (from != items.data()) items = std::move(others);
}

}  // namespace tilewright
