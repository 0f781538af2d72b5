#pragma once
#include <cstdint>

namespace tilewright {

/// How a value between elements is computed: on the plane through the four neighbours, or as the nearest.
enum class GridSampleMode : std::int64_t { bilinear, nearest };
/// Values beyond the first and the last element: 0, that element, or the elements mirrored.
enum class GridPaddingMode : std::int64_t { zeros, border, reflection };

}  // namespace tilewright

namespace tilewright::kernel {

/// The elements of one axis from which a value is computed.
struct GridTaps {
  std::int64_t count = 0;
  std::int64_t elements[2]{};
  double weights[2]{};
  double slopes[2]{};  ///< the weights' derivatives by the coordinate
};
/// An axis whose coordinates are from -1 to 1.
struct GridAxis {
  std::int64_t extent = 1;
  GridSampleMode mode{};
  GridPaddingMode padding{};
  bool align_corners = false;  ///< whether -1 and 1 are the middles of the first and the last element, or their outer ends

  /// Returns the elements for a coordinate, all of which exist; NaN counts as -1.
  GridTaps taps(double coordinate) const;
};

}  // namespace tilewright::kernel
