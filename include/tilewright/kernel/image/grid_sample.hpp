#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tilewright/operand/grid_points.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

inline GridTaps GridAxis::taps(double coordinate) const {
  const auto size = static_cast<double>(extent), last = size - 1;
  double slope = (align_corners ? last : size) / 2, place = ((coordinate == coordinate ? coordinate : -1) + 1) * slope;
  if (!align_corners) place -= 0.5;
  if (padding == GridPaddingMode::reflection) {
    const double low = align_corners ? 0 : -0.5, span = align_corners ? last : size;
    const double from_low = std::abs(place - low), flips = span > 0 ? std::floor(from_low / span) : 0;
    if (place < low) slope = -slope;
    const double rest = flips < 0x1p52 ? from_low - flips * span : 0;
    const bool is_odd = std::floor(flips / 2) * 2 != flips;
    if (is_odd) slope = -slope;
    place = span > 0 ? low + (is_odd ? span - rest : rest) : 0;
  }
  if (padding != GridPaddingMode::zeros) {
    if (place <= 0 || place >= last) slope = 0;
    place = std::clamp(place, 0.0, last);
  }
  GridTaps taps;
  if (!(place > -1.5 && place < size + 0.5)) return taps;
  const auto add = [&](double element, double weight, double by_place) {
    if (element < 0 || element > last) return;
    const auto i = static_cast<std::size_t>(taps.count++);
    taps.elements[i] = static_cast<std::int64_t>(element);
    taps.weights[i] = weight, taps.slopes[i] = by_place * slope;
  };
  if (mode == GridSampleMode::nearest) {
    constexpr double shift = 0x1.8p52;  // numbers of this size have no fraction
    add((place + shift) - shift, 1, 0);
  } else {
    const double first = std::floor(place), part = place - first;
    add(first, 1 - part, -1);
    add(first + 1, part, 1);
  }
  return taps;
}

/// Calls f(n, r, c, rows' taps, columns' taps) for each point of a grid (N, rows, columns, 2), whose coordinates are x, y.
template <class Grid, class F>
inline void for_each_point(Grid grid, const GridAxis& rows, const GridAxis& columns, F&& f) {
  for (std::int64_t n = 0; n < Grid::shape[0]; ++n)
    for (std::int64_t r = 0; r < Grid::shape[1]; ++r)
      for (std::int64_t c = 0; c < Grid::shape[2]; ++c) {
        const auto* const point = grid.data + n * Grid::spec.stride(0) + r * Grid::spec.stride(1) + c * Grid::spec.stride(2);
        const auto x = static_cast<double>(point[0]), y = static_cast<double>(point[Grid::spec.stride(3)]);
        f(n, r, c, rows.taps(y), columns.taps(x));
      }
}
/// Returns the address of an image's channel.
template <class V>
inline auto* plane_of(V view, std::int64_t image, std::int64_t channel) {
  return view.data + image * V::spec.stride(0) + channel * V::spec.stride(1);
}
/// Calls f(offset in a plane of V, weight of the row, of the column, and their slopes) for each element of a point.
template <class V, class F>
inline void for_each_element(const GridTaps& rows, const GridTaps& columns, F&& f) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.count); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns.count); ++j)
      f(rows.elements[i] * V::spec.stride(2) + columns.elements[j] * V::spec.stride(3), rows.weights[i], columns.weights[j],
        rows.slopes[i], columns.slopes[j]);
}

}  // namespace tilewright::kernel
