#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// The loops of an elementwise kernel over operands (the result first), broadcast to the result's shape: axes of extent 1
/// are dropped and neighbours that are contiguous in all operands are merged, so that the innermost run is long.
template <int operands>
struct ElementwiseLoops {
  Shape outer{};
  std::array<std::array<std::int64_t, max_rank>, std::size_t(operands)> strides{};
  std::int64_t run = 1;
  std::array<std::int64_t, std::size_t(operands)> run_strides{};
};

template <int operands>
constexpr ElementwiseLoops<operands> elementwise_loops(const std::array<ViewSpec, std::size_t(operands)>& views) {
  constexpr auto n = static_cast<std::size_t>(operands);
  std::array<std::array<std::int64_t, n>, max_rank> strides{};  // innermost first
  std::array<std::int64_t, max_rank> extents{};
  std::size_t axes = 0;
  const Shape& result = views[0].shape;
  for (int axis = 1; axis <= result.rank; ++axis) {
    if (result[-axis] == 1) continue;
    std::array<std::int64_t, n> step{};
    for (std::size_t o = 0; o < n; ++o)
      if (axis <= views[o].shape.rank && views[o].shape[-axis] != 1) step[o] = views[o].stride(-axis);
    bool merges = axes > 0;
    for (std::size_t o = 0; merges && o < n; ++o) merges = step[o] == strides[axes - 1][o] * extents[axes - 1];
    if (merges) {
      extents[axes - 1] *= result[-axis];
    } else {
      strides[axes] = step;
      extents[axes++] = result[-axis];
    }
  }
  ElementwiseLoops<operands> loops;
  if (axes == 0) return loops;
  loops.run = extents[0];
  loops.run_strides = strides[0];
  for (std::size_t axis = axes; axis-- > 1;) {
    for (std::size_t o = 0; o < n; ++o) loops.strides[o][static_cast<std::size_t>(loops.outer.rank)] = strides[axis][o];
    loops.outer.push_back(extents[axis]);
  }
  return loops;
}
/// Returns the loops of a formula: elementwise_loops, with channels as the innermost axis where they are the last of the result's
/// memory.
template <int operands>
constexpr ElementwiseLoops<operands> formula_loops(std::array<ViewSpec, std::size_t(operands)> views) {
  if (is_channels_last(views[0]))
    for (ViewSpec& view : views) view = with_channels_last(view);
  return elementwise_loops<operands>(views);
}

}  // namespace tilewright::kernel
