#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "tilewright/core/pair.hpp"
#include "tilewright/operand/resize.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

inline double Resize::place(std::int64_t i) const {
  const auto at = static_cast<double>(i);
  switch (coordinates) {
    case CoordinateMode::align_corners: return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    case CoordinateMode::asymmetric: return at / scale;
    case CoordinateMode::tf_half_pixel_for_nn: return (at + 0.5) / scale;
    case CoordinateMode::pytorch_half_pixel:
      if (out == 1) return 0;
      [[fallthrough]];
    default: return (at + 0.5) / scale - 0.5;
  }
}

template <class F>
inline void Resize::for_each_tap(std::int64_t i, F&& f) const {
  const auto inside = [this](double element) {
    return static_cast<std::int64_t>(std::clamp(element, 0.0, static_cast<double>(in - 1)));
  };
  const double x = place(i);
  if (mode == ResizeMode::nearest) {
    const double rounded = nearest == NearestMode::floor               ? std::floor(x)
                           : nearest == NearestMode::ceil              ? std::ceil(x)
                           : nearest == NearestMode::round_prefer_ceil ? std::floor(x + 0.5)
                                                                       : std::ceil(x - 0.5);
    f(inside(rounded), 1.0);
  } else if (mode == ResizeMode::linear) {
    const double first = std::floor((std::max)(x, 0.0)), part = (std::max)(x, 0.0) - first;
    f(inside(first), 1 - part);
    f(inside(first + 1), part);
  } else {
    constexpr double a = -0.75;
    const double first = std::floor(x), t = x - first, u = 1 - t;
    const auto inner = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };              // up to 1 away
    const auto outer = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };         // from 1 to 2 away
    f(inside(first - 1), outer(1 + t));
    f(inside(first), inner(t));
    f(inside(first + 1), inner(u));
    f(inside(first + 2), outer(1 + u));
  }
}

/// Weighted sums: row r of the result is the sum of weights[e] times element columns[e], for e in [starts[r], starts[r + 1]).
template <Resize resize, class Sum, bool transposed>
struct ResizeRows {
  static constexpr std::int64_t rows = transposed ? resize.in : resize.out, entries = resize.out * resize.taps();
  std::array<std::int32_t, std::size_t(rows + 2)> starts{};  // the last two are equal
  std::array<std::int32_t, std::size_t(entries)> columns;
  std::array<Sum, std::size_t(entries)> weights;

  ResizeRows() {
    const auto for_each_entry = [](auto&& f) {
      for (std::int64_t i = 0; i < resize.out; ++i)
        resize.for_each_tap(i, [&](std::int64_t element, double weight) {
          if constexpr (transposed) f(static_cast<std::size_t>(element), i, weight);
          else f(static_cast<std::size_t>(i), element, weight);
        });
    };
    for_each_entry([&](std::size_t row, std::int64_t, double) { ++starts[row + 2]; });
    for (std::size_t row = 0; row < std::size_t(rows); ++row) starts[row + 2] += starts[row + 1];
    // starts[row + 1] is the start of `row` until its entries move it to that of the next row
    for_each_entry([&](std::size_t row, std::int64_t column, double weight) {
      const auto at = static_cast<std::size_t>(starts[row + 1]++);
      columns[at] = static_cast<std::int32_t>(column);
      weights[at] = static_cast<Sum>(weight);
    });
  }
};

/// Bytes of resize_axis' arrays on the stack: its rows.
template <Resize resize, bool transposed, class Y>
inline constexpr std::int64_t resize_stack_bytes = [] {
  using Rows = ResizeRows<resize, compute_t<typename Y::element>, transposed>;
  return static_cast<std::int64_t>(sizeof(Rows));
}();

/// Computes y, x resized along an axis; transposed: x is the gradient of the result, and y that of the resized input.
template <Resize resize, int axis, bool transposed, class X, class Y>
inline void resize_axis(X x, Y y) {
  using Sum = compute_t<typename Y::element>;
  using Rows = ResizeRows<resize, Sum, transposed>;
  constexpr bool along_last = axis == Y::shape.rank - 1;
  constexpr std::int64_t run = along_last ? 1 : Y::shape[-1], x_run = X::spec.stride(-1), y_run = Y::spec.stride(-1);
  constexpr auto loops = [] {
    Pair<Shape, std::array<std::array<std::int64_t, max_rank>, 2>> result{};
    for (int other = 0; other < Y::shape.rank; ++other) {
      if (other == axis || (!along_last && other == Y::shape.rank - 1)) continue;
      result.second[0][static_cast<std::size_t>(result.first.rank)] = X::spec.stride(other);
      result.second[1][static_cast<std::size_t>(result.first.rank)] = Y::spec.stride(other);
      result.first.push_back(Y::shape[other]);
    }
    return result;
  }();
  const Rows rows;
  for_each_offset<2>(loops.first, loops.second, [&](const auto& at) {
    const auto* const from = x.data + at[0];
    auto* const to = y.data + at[1];
    for (std::int64_t row = 0; row < Rows::rows; ++row) {
      const auto first = static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row)]),
                 last = static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row + 1)]);
      if constexpr (along_last) {
        Sum sum{};
        for (std::size_t e = first; e < last; ++e)
          sum += rows.weights[e] * static_cast<Sum>(from[rows.columns[e] * X::spec.stride(axis)]);
        to[row * Y::spec.stride(axis)] = static_cast<typename Y::element>(sum);
      } else {
        constexpr std::int64_t block = 64;
        for (std::int64_t begin = 0; begin < run; begin += block) {
          const std::int64_t count = (std::min)(block, run - begin);
          Sum sums[block]{};
          for (std::size_t e = first; e < last; ++e) {
            const auto* const line = from + rows.columns[e] * X::spec.stride(axis) + begin * x_run;
            for (std::int64_t i = 0; i < count; ++i) sums[i] += rows.weights[e] * static_cast<Sum>(line[i * x_run]);
          }
          auto* const line = to + row * Y::spec.stride(axis) + begin * y_run;
          for (std::int64_t i = 0; i < count; ++i) line[i * y_run] = static_cast<typename Y::element>(sums[i]);
        }
      }
    }
  });
}

}  // namespace tilewright::kernel
