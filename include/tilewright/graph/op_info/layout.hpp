#pragma once
#include <array>
#include <cstdint>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

struct PackedAttributes;

/// Positions of a tensor's elements in its storage: an offset and a stride for each axis, in elements.
struct Layout {
  std::int64_t offset = 0;
  std::array<std::int64_t, max_rank> strides{};
  constexpr bool operator==(const Layout&) const = default;
};

constexpr Layout dense_layout(const Shape& shape) { return {0, dense_strides(shape)}; }

/// Returns whether the elements are contiguous in row-major order (axes of extent 1 may have any stride).
constexpr bool is_dense(const Shape& shape, const Layout& layout) {
  std::int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && layout.strides[static_cast<std::size_t>(axis)] != stride) return false;
    stride *= shape[axis];
  }
  return true;
}

/// Returns whether neighbours along the last axis are neighbours in memory.
constexpr bool has_runs(const Shape& shape, const Layout& layout) {
  return shape.rank == 0 || shape[-1] == 1 || layout.strides[static_cast<std::size_t>(shape.rank - 1)] == 1;
}

/// Returns whether an operand of `shape` is broadcast to planes of the last two axes of `planes`, each of which is one run of
/// memory or one element.
constexpr bool has_plane_runs(const Shape& shape, const Layout& layout, const Shape& planes) {
  const auto extent = [](const Shape& of, int axis) { return of.rank >= -axis ? of[axis] : 1; };
  if (extent(shape, -1) == 1 && extent(shape, -2) == 1) return true;
  if (extent(planes, -1) == 1 || extent(shape, -1) != extent(planes, -1) || extent(shape, -2) != extent(planes, -2)) return false;
  const auto stride = [&](int axis) { return layout.strides[static_cast<std::size_t>(shape.rank + axis)]; };
  return stride(-1) == 1 && (extent(shape, -2) == 1 || stride(-2) == shape[-1]);
}

/// Returns whether an operand is broadcast to images (N, C, H, W) so that the elements of neighbouring channels are neighbours in
/// memory, or one element.
constexpr bool has_channel_runs(const Shape& shape, const Layout& layout) {
  return shape.rank < 3 || shape[-3] == 1 || layout.strides[static_cast<std::size_t>(shape.rank - 3)] == 1;
}

/// Returns whether several elements of the tensor share one element of memory, as in a tensor that was broadcast.
constexpr bool repeats_elements(const Shape& shape, const Layout& layout) {
  for (int axis = 0; axis < shape.rank; ++axis)
    if (shape[axis] != 1 && layout.strides[static_cast<std::size_t>(axis)] == 0) return true;
  return false;
}

/// Rule for the layout of an op's result as a view of its input, from the input's shape and layout and the result's shape.
using ViewRule = Layout (*)(const Shape& input, const Layout& layout, const Shape& output, const PackedAttributes&);

}  // namespace tilewright
