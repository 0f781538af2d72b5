#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <stdexcept>

namespace tilewright {

/// A vector of bounded length without allocation; structural, so it can be part of a template argument.
template <class T, int Capacity>
struct FixedVector {
  T items[std::size_t(Capacity)]{};
  int count = 0;

  constexpr int size() const { return count; }
  constexpr void push_back(const T& item) {
    if (count == Capacity) TW_THROW std::length_error("FixedVector: capacity exceeded");
    items[count++] = item;
  }
  constexpr T& operator[](int i) { return items[i]; }
  constexpr const T& operator[](int i) const { return items[i]; }
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }
  friend constexpr bool operator==(const FixedVector& a, const FixedVector& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (!(a.items[i] == b.items[i])) return false;
    return true;
  }
};

}  // namespace tilewright
