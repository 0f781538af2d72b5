#pragma once
#include <cstdint>

namespace tilewright {

/// How elements between others are computed: the nearest, on a line between two, or on Keys' cubic of four.
enum class ResizeMode : std::int64_t { nearest, linear, cubic };
/// Rule for the nearest of two elements.
enum class NearestMode : std::int64_t { round_prefer_floor, round_prefer_ceil, floor, ceil };
/// Position of a result between the elements, as ONNX's Resize defines it.
enum class CoordinateMode : std::int64_t {
  half_pixel,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};

}  // namespace tilewright

namespace tilewright::kernel {

/// One axis: `out` results of `in` elements.
struct Resize {
  std::int64_t in = 1, out = 1;
  double scale = 1;
  ResizeMode mode{};
  NearestMode nearest{};
  CoordinateMode coordinates{};
  constexpr bool operator==(const Resize&) const = default;

  constexpr std::int64_t taps() const { return mode == ResizeMode::nearest ? 1 : mode == ResizeMode::linear ? 2 : 4; }
  /// Returns the position of result i among the elements.
  double place(std::int64_t i) const;
  /// Calls f(element, weight) for the elements of result i.
  template <class F>
  void for_each_tap(std::int64_t i, F&& f) const;
};

}  // namespace tilewright::kernel
