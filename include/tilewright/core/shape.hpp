#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

/// The largest number of axes of a tensor.
inline constexpr int max_rank = 6;

struct Shape;
constexpr Text to_text(const Shape& shape);

/// Extents of a tensor's axes, outermost first. A rank of 0 is a scalar. A structural type: it can be a template argument.
struct Shape {
  std::int64_t extents[max_rank]{};  // no std::array: compilers take several times as long with its calls
  int rank = 0;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::int64_t> list) {
    for (auto extent : list) push_back(extent);
  }

  constexpr void push_back(std::int64_t extent) {
    if (rank == max_rank)  // compilers show the line of the error, with its text
      TW_THROW TraceError(text("Shape: ", to_text(*this), " and an axis of ", extent, ": at most 6 axes expected").string());
    extents[rank++] = extent;
  }
  /// Extent of an axis; -1 is the last one.
  constexpr std::int64_t operator[](int axis) const& { return extents[axis < 0 ? rank + axis : axis]; }
  constexpr std::int64_t& operator[](int axis) & { return extents[axis < 0 ? rank + axis : axis]; }
  /// Number of elements.
  constexpr std::int64_t nelms() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= extents[axis];
    return count;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank != b.rank) return false;
    for (int axis = 0; axis < a.rank; ++axis)
      if (a.extents[axis] != b.extents[axis]) return false;
    return true;
  }
};

/// Returns the shape as NumPy prints it: (8, 784), (512,) for one axis and () for a scalar.
constexpr Text to_text(const Shape& shape) {
  Text result = "(";
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (axis > 0) result += ", ";
    result += shape[axis];
  }
  result += shape.rank == 1 ? ",)" : ")";
  return result;
}

/// Returns the number of elements between neighbours along each axis of a dense row-major tensor.
constexpr std::array<std::int64_t, max_rank> dense_strides(const Shape& shape) {
  std::array<std::int64_t, max_rank> strides{};
  std::int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape.extents[axis];
  }
  return strides;
}

}  // namespace tilewright
