#pragma once
#include <cstdint>

#include "tilewright/operand/window.hpp"

namespace tilewright::kernel {

/// Gaps of poolings along three spatial axes: elements of the input are `spacing` apart, with padding between them, and zeros
/// precede and follow the results. The windows count the gaps.
struct PoolGaps {
  std::int64_t spacing[3] = {1, 1, 1}, begin[3] = {}, end[3] = {};
  constexpr bool operator==(const PoolGaps&) const = default;

  constexpr bool none() const { return *this == PoolGaps(); }
  /// Returns whether a window's element is one of the input's.
  constexpr bool contains(const Window& window, int axis, std::int64_t at) const {
    return window.contains(at) && at % spacing[axis] == 0;
  }
};

/// Begins of blocks along an axis: block b begins at element `first + b step`.
struct BlockBegins {
  std::int64_t first = 0, step = 0;
  constexpr bool operator==(const BlockBegins&) const = default;
  constexpr std::int64_t at(std::int64_t block) const { return first + block * step; }
};
/// Windows of whole images, and where the blocks of a plan begin: of the elements of windows, of windows, and of the elements
/// that the gradient of a pooling computes. Blocks may go beyond the images.
struct PoolBlocks {
  Windows windows{};
  BlockBegins elements[3]{}, results[3]{}, gradient[3]{};
  int axes = 2;  ///< spatial axes
  constexpr bool operator==(const PoolBlocks&) const = default;
};

/// Returns whether windows of 2 elements, 2 apart, divide an axis. The last element of an odd number is in no window.
constexpr bool is_in_pairs(const Window& w) {
  return w.kernel == 2 && w.stride == 2 && w.dilation == 1 && w.begin == 0 && w.out == w.in / 2;
}
/// Returns whether windows are 2 x 2, and divide the planes of the last two axes.
constexpr bool is_in_pairs(const Windows& windows) {
  return windows[0].kernel == 1 && windows[0].out == windows[0].in && is_in_pairs(windows[1]) && is_in_pairs(windows[2]);
}

}  // namespace tilewright::kernel
