#pragma once
#include <array>
#include <cstddef>
#include <stdexcept>

namespace tilewright {

/// A vector of bounded length without allocation; structural, so it can be part of a template argument.
template <class T, int Capacity>
struct FixedVector {
  std::array<T, Capacity> items{};
  int count = 0;

  constexpr int size() const { return count; }
  constexpr void push_back(const T& item) {
    if (count == Capacity) throw std::length_error("FixedVector: capacity exceeded");
    items[static_cast<std::size_t>(count++)] = item;
  }
  constexpr T& operator[](int i) { return items[static_cast<std::size_t>(i)]; }
  constexpr const T& operator[](int i) const { return items[static_cast<std::size_t>(i)]; }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + count; }
  constexpr bool operator==(const FixedVector&) const = default;
};

}  // namespace tilewright
