#pragma once
// The transforms of Winograd's convolution F(4 x 4, 3 x 3): Lavin and Gray, Fast algorithms for convolutional neural networks,
// 2015, arXiv:1509.09308. A tile of 6 x 6 elements and a kernel of 3 x 3 become 36 points each, products point by point are 36
// points of the result, and these become a tile of 4 x 4 results: 36 products instead of 144.
//
// A line of a tile is a polynomial that is evaluated at 0, sqrt(1/2), -sqrt(1/2), sqrt(2), -sqrt(2) and infinity. With these
// points rounding errors are about a third of those with the paper's 0, 1, -1, 2, -2: neither the points nor their powers are
// large, and most coefficients are exact.
#include <cstdint>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/lanes.hpp"

namespace tilewright::kernel {

/// Extents of a tile along one axis: elements, results, and taps of the kernel.
inline constexpr std::int64_t winograd_size = 6, winograd_results = 4, winograd_taps = 3;
/// Number of points of a tile.
inline constexpr std::int64_t winograd_points = winograd_size * winograd_size;

/// A vector of numbers for each element of a line of a tile.
template <std::int64_t count>
struct WinogradLine {
  Lanes at[count];
  [[gnu::always_inline]] Lanes& operator[](std::int64_t i) { return at[i]; }
  [[gnu::always_inline]] const Lanes& operator[](std::int64_t i) const { return at[i]; }
};

/// The points other than 0 and infinity are +a, -a, +b and -b: a a = 1/2, b b = 2, a b = 1.
inline constexpr float winograd_a = 0.70710678118654752f, winograd_b = 1.4142135623730950f;

[[gnu::always_inline]] inline Lanes add_product(float factor, const Lanes& x, const Lanes& sum) {
  return math::fma(Lanes(factor), x, sum);
}

/// Points of a line of elements.
struct ElementLine {
  static constexpr std::int64_t from = winograd_size, to = winograd_size;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& x) const {
    const Lanes even_a = add_product(-2.f, x[2], x[4]), odd_a = add_product(-2.f, x[1], x[3]);
    const Lanes even_b = add_product(-0.5f, x[2], x[4]), odd_b = add_product(-0.5f, x[1], x[3]);
    return {add_product(-2.5f, x[2], x[0] + x[4]),   add_product(winograd_a, odd_a, even_a),
            add_product(-winograd_a, odd_a, even_a), add_product(winograd_b, odd_b, even_b),
            add_product(-winograd_b, odd_b, even_b), add_product(-2.5f, x[3], x[1] + x[5])};
  }
};
/// The transpose of ElementLine: adds what points contribute to the elements of a line.
struct ElementLineBack {
  static constexpr std::int64_t from = winograd_size, to = winograd_size;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& x) const {
    const Lanes sum_a = x[1] + x[2], less_a = x[1] - x[2], sum_b = x[3] + x[4], less_b = x[3] - x[4];
    return {x[0],
            add_product(-winograd_b, less_a, add_product(-winograd_a, less_b, x[5])),
            add_product(-2.5f, x[0], add_product(-2.f, sum_a, Lanes(-0.5f) * sum_b)),
            add_product(-2.5f, x[5], add_product(winograd_a, less_a, Lanes(winograd_b) * less_b)),
            x[0] + (sum_a + sum_b),
            x[5]};
  }
};
/// Points of a line of the kernel.
struct TapLine {
  static constexpr std::int64_t from = winograd_taps, to = winograd_size;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& w) const {
    constexpr float third = 1.f / 3, sixth = 1.f / 6;
    const Lanes even_a = add_product(-2 * third, w[0], Lanes(-third) * w[2]),
                even_b = add_product(sixth, w[0], Lanes(third) * w[2]);
    return {w[0],
            add_product(-2 * third * winograd_a, w[1], even_a),
            add_product(2 * third * winograd_a, w[1], even_a),
            add_product(sixth * winograd_b, w[1], even_b),
            add_product(-sixth * winograd_b, w[1], even_b),
            w[2]};
  }
};
/// The transpose of TapLine.
struct TapLineBack {
  static constexpr std::int64_t from = winograd_size, to = winograd_taps;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& x) const {
    constexpr float third = 1.f / 3, sixth = 1.f / 6;
    const Lanes sum_a = x[1] + x[2], less_a = x[1] - x[2], sum_b = x[3] + x[4], less_b = x[3] - x[4];
    return {add_product(-2 * third, sum_a, add_product(sixth, sum_b, x[0])),
            add_product(-2 * third * winograd_a, less_a, Lanes(sixth * winograd_b) * less_b),
            add_product(third, sum_b - sum_a, x[5])};
  }
};
/// Results of a line of points.
struct ResultLine {
  static constexpr std::int64_t from = winograd_size, to = winograd_results;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& x) const {
    const Lanes sum_a = x[1] + x[2], less_a = x[1] - x[2], sum_b = x[3] + x[4], less_b = x[3] - x[4];
    return {x[0] + (sum_a + sum_b), add_product(winograd_a, less_a, Lanes(winograd_b) * less_b),
            add_product(0.5f, sum_a, Lanes(2.f) * sum_b),
            add_product(winograd_a / 2, less_a, add_product(2 * winograd_b, less_b, x[5]))};
  }
};
/// The transpose of ResultLine: points of a line of gradients.
struct ResultLineBack {
  static constexpr std::int64_t from = winograd_results, to = winograd_size;
  [[gnu::always_inline]] WinogradLine<to> operator()(const WinogradLine<from>& y) const {
    const Lanes even_a = add_product(0.5f, y[2], y[0]), odd_a = add_product(0.5f, y[3], y[1]);
    const Lanes even_b = add_product(2.f, y[2], y[0]), odd_b = add_product(2.f, y[3], y[1]);
    return {y[0],
            add_product(winograd_a, odd_a, even_a),
            add_product(-winograd_a, odd_a, even_a),
            add_product(winograd_b, odd_b, even_b),
            add_product(-winograd_b, odd_b, even_b),
            y[3]};
  }
};

/// Transforms the columns and then the rows of a tile with T: `load(i, j)` gives a vector, and `store(i, j, vector)` takes one.
template <class T, class Load, class Store>
[[gnu::always_inline]] inline void transform_tile(const Load& load, const Store& store) {
  WinogradLine<T::from> half[T::to];
#pragma GCC unroll 64
  for (std::int64_t j = 0; j < T::from; ++j) {
    WinogradLine<T::from> column;
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < T::from; ++i) column[i] = load(i, j);
    const WinogradLine<T::to> points = T()(column);
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < T::to; ++i) half[i][j] = points[i];
  }
#pragma GCC unroll 64
  for (std::int64_t i = 0; i < T::to; ++i) {
    const WinogradLine<T::to> points = T()(half[i]);
#pragma GCC unroll 64
    for (std::int64_t j = 0; j < T::to; ++j) store(i, j, points[j]);
  }
}

}  // namespace tilewright::kernel
