#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// The bins of a region of interest on a plane of rows x columns elements, and the points at which a bin is sampled.
struct RoiBins {
  std::int64_t rows = 1, columns = 1;          ///< of the plane
  std::int64_t out_rows = 1, out_columns = 1;  ///< bins
  double scale = 1;
  std::int64_t sampling = 0;  ///< points along each axis of a bin; 0: one for each element, at most most_points
  static constexpr double most_points = 1024;

  /// Calls f(bin, element, weight) for the elements of each bin's mean. Points more than one element outside of the plane count
  /// as 0. Weights and elements are valid for any coordinates, NaN included: no other memory is accessed.
  template <class F>
  void for_each_weight(double x1, double y1, double x2, double y2, F&& f) const;
};

}  // namespace tilewright::kernel
