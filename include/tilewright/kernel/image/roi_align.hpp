#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tilewright/kernel/view.hpp"

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
  void for_each_weight(double x1, double y1, double x2, double y2, F&& f) const {
    const double top = y1 * scale, left = x1 * scale;
    const double bin_rows = (std::max)(y2 * scale - top, 1.0) / static_cast<double>(out_rows),
                 bin_columns = (std::max)(x2 * scale - left, 1.0) / static_cast<double>(out_columns);
    const auto points = [this](double extent) {
      return sampling > 0 ? sampling : static_cast<std::int64_t>(extent < most_points ? std::ceil(extent) : most_points);
    };
    const std::int64_t grid_rows = points(bin_rows), grid_columns = points(bin_columns);
    const double part = 1 / static_cast<double>(grid_rows * grid_columns);
    const auto at = [](double begin, double bin, std::int64_t number, std::int64_t point, std::int64_t grid) {
      return begin + bin * (static_cast<double>(number) + (static_cast<double>(point) + 0.5) / static_cast<double>(grid));
    };
    for (std::int64_t i = 0; i < out_rows; ++i)
      for (std::int64_t j = 0; j < out_columns; ++j)
        for (std::int64_t k = 0; k < grid_rows; ++k) {
          const Neighbours row(at(top, bin_rows, i, k, grid_rows), rows);
          for (std::int64_t l = 0; row.inside && l < grid_columns; ++l) {
            const Neighbours column(at(left, bin_columns, j, l, grid_columns), columns);
            if (!column.inside) continue;
            const auto give = [&](std::int64_t r, std::int64_t c, double weight) {
              f(i * out_columns + j, r * columns + c, weight * part);
            };
            give(row.low, column.low, (1 - row.part) * (1 - column.part));
            give(row.low, column.high, (1 - row.part) * column.part);
            give(row.high, column.low, row.part * (1 - column.part));
            give(row.high, column.high, row.part * column.part);
          }
        }
  }

 private:
  /// The elements before and after a position along an axis, and the fraction of the way from the first to the second.
  struct Neighbours {
    bool inside;
    std::int64_t low = 0, high = 0;
    double part = 0;
    Neighbours(double place, std::int64_t extent) : inside(place >= -1 && place <= static_cast<double>(extent)) {
      if (!inside) return;
      place = std::clamp(place, 0.0, static_cast<double>(extent - 1));
      low = static_cast<std::int64_t>(place);
      high = (std::min)(low + 1, extent - 1);
      part = place - static_cast<double>(low);
    }
  };
};

}  // namespace tilewright::kernel
