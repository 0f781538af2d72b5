#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// The windows of a convolution or pooling along one axis. The window of result o has the elements
/// o * stride - begin + k * dilation for k in [0, kernel), as far as they are in [0, in).
struct Window {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;
  constexpr bool operator==(const Window&) const = default;

  /// Returns the number of elements from the first to the last of a window, both included.
  constexpr std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  constexpr std::int64_t at(std::int64_t o, std::int64_t k) const { return o * stride - begin + k * dilation; }
  constexpr bool contains(std::int64_t i) const { return i >= 0 && i < in; }
  /// Return the results [first, last) whose windows are inside the elements.
  constexpr std::int64_t first_inner() const {
    const std::int64_t first = begin <= 0 ? 0 : (begin + stride - 1) / stride;
    return first < out ? first : out;
  }
  constexpr std::int64_t last_inner() const {
    const std::int64_t room = in - span() + begin;
    const std::int64_t last = room < 0 ? 0 : room / stride + 1;
    return last < first_inner() ? first_inner() : last < out ? last : out;
  }
  /// Returns whether there is no padding, and no element is in two windows.
  constexpr bool tiles() const { return begin == 0 && dilation == 1 && stride >= kernel && last_inner() == out; }
  /// Returns the number of results whose windows end before element i.
  constexpr std::int64_t ends_before(std::int64_t i) const {
    const std::int64_t room = i - span() + begin, ended = room < 0 ? 0 : room / stride + 1;
    return ended < out ? ended : out;
  }
};

/// The windows along three spatial axes. A tensor with fewer axes has windows of extent 1 for the first ones.
struct Windows {
  Window axes[3];
  constexpr bool operator==(const Windows&) const = default;
  constexpr const Window& operator[](int axis) const { return axes[axis]; }
  constexpr std::int64_t in() const { return axes[0].in * axes[1].in * axes[2].in; }
  constexpr std::int64_t out() const { return axes[0].out * axes[1].out * axes[2].out; }
  constexpr std::int64_t kernel() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

}  // namespace tilewright::kernel
