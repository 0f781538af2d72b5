#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tilewright/operand/roi_bins.hpp"

namespace tilewright::kernel {

/// The elements before and after a position along an axis, and the fraction of the way from the first to the second.
struct RoiNeighbours {
  bool inside;
  std::int64_t low = 0, high = 0;
  double part = 0;
  RoiNeighbours(double place, std::int64_t extent) : inside(place >= -1 && place <= static_cast<double>(extent)) {
    if (!inside) return;
    place = std::clamp(place, 0.0, static_cast<double>(extent - 1));
    low = static_cast<std::int64_t>(place);
    high = (std::min)(low + 1, extent - 1);
    part = place - static_cast<double>(low);
  }
};

template <class F>
inline void RoiBins::for_each_weight(double x1, double y1, double x2, double y2, F&& f) const {
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
        const RoiNeighbours row(at(top, bin_rows, i, k, grid_rows), rows);
        for (std::int64_t l = 0; row.inside && l < grid_columns; ++l) {
          const RoiNeighbours column(at(left, bin_columns, j, l, grid_columns), columns);
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

}  // namespace tilewright::kernel
