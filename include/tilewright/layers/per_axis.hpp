#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <concepts>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/core/shape.hpp"

namespace tilewright::layers {

/// One number for each spatial axis of a layer, as a template argument: `3` for all axes, or `{3, 5}`, one for each.
template <int axes>
struct PerAxis {
  std::array<int, axes> values{};  ///< by axis

  constexpr PerAxis(int value) { values.fill(value); }
  template <std::same_as<int>... Others>
    requires(sizeof...(Others) + 1 == axes && axes > 1)
  constexpr PerAxis(int first, Others... others) : values{first, others...} {}

  constexpr bool operator==(const PerAxis&) const = default;
  constexpr List<std::int64_t> list() const { return {values.begin(), values.end()}; }
  /// Returns the numbers of all axes for the beginnings, then the same numbers for the ends: the order of `padding` in ops.
  constexpr List<std::int64_t> at_both_ends() const {
    List<std::int64_t> both = list();
    for (const int value : values) both.push_back(value);
    return both;
  }
  /// Returns the shape (first, second, numbers of the axes).
  constexpr Shape after(std::int64_t first, std::int64_t second) const {
    Shape shape{first, second};
    for (const int value : values) shape.push_back(value);
    return shape;
  }
};

}  // namespace tilewright::layers
