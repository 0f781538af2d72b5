#pragma once
#include <array>
#include <cstdint>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

/// An operand's slice as a codelet's constant: dtype, extents, and strides in elements.
struct ViewSpec {
  DType dtype = float32;
  Shape shape{};
  std::array<std::int64_t, max_rank> strides{};
  constexpr bool operator==(const ViewSpec&) const = default;

  constexpr std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis < 0 ? shape.rank + axis : axis)]; }
};

/// The same with every stride written. Needed for template arguments: GCC 12 leaves out elements that were never written, and
/// then takes views with zeros at different places for equal.
constexpr ViewSpec written_out(ViewSpec view) {
  for (auto& stride : view.strides) stride = std::int64_t{stride};
  return view;
}

/// A slice of an operand: a pointer, and everything else in the type.
template <ViewSpec view_spec>
struct View {
  using element = element_t<view_spec.dtype>;
  static constexpr ViewSpec spec = view_spec;
  static constexpr Shape shape = view_spec.shape;

  element* data;
};

/// The type in which a kernel computes on elements of a type: float for half precision, else the type itself.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, float16_t>, float, T>;

/// Calls f(offset of each operand...) for every index of a static space of `extents`, where operand o moves by
/// `strides[o][axis]`.
template <int operands, class F>
inline void for_each_offset(const Shape& extents,
                            const std::array<std::array<std::int64_t, max_rank>, std::size_t(operands)>& strides, F&& f) {
  std::array<std::int64_t, std::size_t(operands)> offsets{};
  std::array<std::int64_t, max_rank> index{};
  for (;;) {
    f(offsets);
    int axis = extents.rank - 1;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      for (std::size_t o = 0; o < operands; ++o) offsets[o] += strides[o][a];
      if (++index[a] < extents[axis]) break;
      for (std::size_t o = 0; o < operands; ++o) offsets[o] -= strides[o][a] * extents[axis];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace tilewright
