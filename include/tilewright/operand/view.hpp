#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

namespace kernel {
/// A cache line, which is also the longest vector: the alignment of a kernel's blocks on the stack.
inline constexpr std::size_t line_bytes = 64;
}  // namespace kernel

/// An operand's slice as a codelet's constant: dtype, extents, and strides in elements.
struct ViewSpec {
  DType dtype = float32;
  Shape shape{};
  std::array<std::int64_t, max_rank> strides{};
  constexpr bool operator==(const ViewSpec&) const = default;

  constexpr std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis < 0 ? shape.rank + axis : axis)]; }
};

/// Returns the bytes from the first to the last element of a view in memory, for any signs of its strides.
constexpr std::int64_t span_bytes(const ViewSpec& view) {
  std::int64_t last = 0;
  for (int axis = 0; axis < view.shape.rank; ++axis) {
    const std::int64_t reach = (view.shape[axis] - 1) * view.stride(axis);
    last += reach < 0 ? -reach : reach;
  }
  return (last + 1) * size_of(view.dtype);
}

/// Returns the elements between neighbours along an axis, counted from the last one as -1, of a tensor to which the view is
/// broadcast: 0 if it has one element or no such axis.
constexpr std::int64_t broadcast_stride(const ViewSpec& view, int axis) {
  return view.shape.rank >= -axis && view.shape[axis] != 1 ? view.stride(axis) : 0;
}
/// Returns whether the rows of all matrices of a tensor of `shape`, to which the view is broadcast, are evenly spaced, like the
/// rows of one matrix.
constexpr bool rows_are_one_matrix(const ViewSpec& view, const Shape& shape) {
  std::int64_t rows = shape[-2];
  for (int axis = 3; axis <= shape.rank; rows *= shape[-axis], ++axis)
    if (shape[-axis] != 1 && broadcast_stride(view, -axis) != rows * broadcast_stride(view, -2)) return false;
  return true;
}
/// Returns whether the elements of a view of `shape` can be read as one row: they are contiguous, or a single element is
/// broadcast.
constexpr bool elements_are_one_row(const ViewSpec& view, const Shape& shape) {
  if (view.shape.nelms() == 1) return shape.rank > 0;
  if (view.shape != shape || shape[-1] == 1) return false;
  std::int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && view.stride(axis) != stride) return false;
    stride *= shape[axis];
  }
  return true;
}

/// Returns whether the channels of a tensor (N, C, H, W) are the last axis in memory.
constexpr bool is_channels_last(const Shape& shape, const std::array<std::int64_t, max_rank>& strides) {
  return shape.rank == 4 && strides[1] == 1 && strides[3] > 1 && strides[2] == shape[3] * strides[3];
}
constexpr bool is_channels_last(const ViewSpec& view) { return is_channels_last(view.shape, view.strides); }
/// Returns the strides of a dense tensor (N, C, H, W) whose channels are the last axis in memory.
constexpr std::array<std::int64_t, max_rank> channels_last_strides(const Shape& shape) {
  return {shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1], shape[1]};
}
/// Returns a view that is broadcast to (N, C, H, W) as one that is broadcast to (N, H, W, C).
constexpr ViewSpec with_channels_last(const ViewSpec& view) {
  ViewSpec result{view.dtype, {}, {}};
  for (const int axis : {-4, -2, -1, -3}) {
    const bool exists = view.shape.rank >= -axis;
    result.strides[static_cast<std::size_t>(result.shape.rank)] = exists ? view.stride(axis) : 0;
    result.shape.push_back(exists ? view.shape[axis] : 1);
  }
  return result;
}

/// Returns the view with every stride written. Template arguments need it: GCC 12 omits elements that were never written, and
/// then treats views with zeros at different positions as equal.
constexpr ViewSpec written_out(ViewSpec view) {
  for (auto& stride : view.strides) stride = std::int64_t{stride};
  return view;
}

/// Elements of a view as an expression of xtensor, which tilewright/array.hpp defines.
namespace kernel {
template <class V>
struct ArrayOf;
}
namespace detail {
template <class T>
concept Complete = requires { sizeof(T); };
}  // namespace detail

/// A slice of an operand: a pointer, and everything else in the type. `is_input`: whether it is an op's input.
template <ViewSpec view_spec, bool is_input = false>
struct View {
  using element = element_t<view_spec.dtype>;
  static constexpr ViewSpec spec = view_spec;
  static constexpr Shape shape = view_spec.shape;

  element* data;

  /// Converts to an input, because an output can be read like one.
  operator View<view_spec, true>() const
    requires(!is_input)
  {
    return {data};
  }
  /// Returns the elements as an expression of xtensor; that of an output can be assigned to.
  auto array() const {
    static_assert(detail::Complete<kernel::ArrayOf<View>>, "array(): `#include <tilewright/array.hpp>` expected");
    if constexpr (detail::Complete<kernel::ArrayOf<View>>) return kernel::ArrayOf<View>::of(data);
  }
};

/// Origin of positions: see Base::position. Only its address matters.
inline constexpr std::byte position_origin{};
/// Returns the position of a view's first element, where the view is the last input of an op that `takes_positions`. Positions of
/// other elements are larger by the view's strides.
template <class V>
inline std::int64_t position_of(V positions) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(positions.data) -
                                   reinterpret_cast<std::intptr_t>(&position_origin));
}

/// The type in which a kernel computes on elements of a type: float for half precision and float8, otherwise the type itself.
template <class T>
using compute_t = std::conditional_t<std::is_arithmetic_v<T> && !is_half_type<T>, T, float>;

/// Converts a number to an element of type T. Floating point to integers truncates; values beyond the range become the nearest
/// end of the range, and NaN becomes 0. Integers to narrower ones wrap around. To bool, everything except 0 is true.
template <class T, class X>
[[gnu::always_inline]] constexpr T element_cast(const X& x) {
  if constexpr (std::is_floating_point_v<X> && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr X least = static_cast<X>((std::numeric_limits<T>::min)());
    constexpr X beyond = 2 * static_cast<X>((std::numeric_limits<T>::max)() / 2 + 1);  // a power of 2
    if (x >= beyond) return (std::numeric_limits<T>::max)();
    if (x >= least) return static_cast<T>(x);
    return x < least ? (std::numeric_limits<T>::min)() : T{0};
  } else {
    return static_cast<T>(x);
  }
}

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
