#pragma once
#include <cstdint>
#include <optional>

#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

/// Returns the layout of a result if the elements of `view`, which are all of its elements, have the layout `to`. Returns nothing
/// if `view` does not have all of them once, or if an axis of the result is not part of one of its axes.
constexpr std::optional<Layout> moved_layout(const Value& result, const Value& view, const Layout& to) {
  if (view.spec.dtype != result.spec.dtype || view.spec.nelms() != result.spec.nelms() || view.layout.offset != 0) return {};
  Layout layout = result.layout;
  layout.offset = to.offset;
  const Shape &shape = result.spec.shape, &viewed = view.spec.shape;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (shape[axis] == 1) continue;
    // the axis of the view that has this one, or is this one
    const std::int64_t stride = result.layout.strides[static_cast<std::size_t>(axis)];
    int other = 0;
    while (other < viewed.rank && !(viewed[other] > 1 && view.layout.strides[static_cast<std::size_t>(other)] > 0 &&
                                    stride % view.layout.strides[static_cast<std::size_t>(other)] == 0 &&
                                    stride / view.layout.strides[static_cast<std::size_t>(other)] * shape[axis] <= viewed[other]))
      ++other;
    if (other == viewed.rank) return {};
    layout.strides[static_cast<std::size_t>(axis)] = to.strides[static_cast<std::size_t>(other)] *
                                                     (stride / view.layout.strides[static_cast<std::size_t>(other)]);
  }
  return layout;
}

}  // namespace tilewright::internal
