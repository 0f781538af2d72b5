#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/conv/planes.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/kernel/vector/lanes.hpp"

namespace tilewright::kernel {

/// The input as a matrix (im2col): a row for each channel and tap, a column for each result in a chunk of rows of results. With a
/// stride of 1, taps in one column of the kernel share elements. Vectors run along results, across the ends of rows.
template <ConvShape s>
struct ConvColumns {
  static constexpr bool shares_rows = s.h.stride == 1;
  /// Largest number of floats of all rows, which are on the stack and stay in the second-level cache. The plan of Conv/1x28x28 to
  /// 32 of ./dev bench kernels depends on the number.
  static constexpr std::int64_t most_floats = 24'576;
  static constexpr std::int64_t planes = s.channels * s.v.kernel * (shares_rows ? 1 : s.h.kernel);
  static constexpr std::int64_t plane(std::int64_t count) {
    return (count + (shares_rows ? s.h.span() - 1 : 0)) * s.v.out + lanes;
  }
  /// Number of rows of results in a chunk: the result's rows, halved until they fit in most_floats.
  static constexpr std::int64_t rows = [] {
    std::int64_t count = s.h.out;
    while (count > 1 && planes * plane(count) > most_floats) count = (count + 1) / 2;
    return count;
  }();
  static constexpr std::int64_t rest_rows = s.h.out % rows;
  static constexpr std::int64_t size = planes * plane(rows);
  static constexpr bool fits = size <= most_floats && s.h_spacing == 1 && s.v_spacing == 1 && rows * s.v.out >= lanes &&
                               (rest_rows == 0 || rest_rows * s.v.out >= lanes);
  /// Returns the offset of a tap's elements, in floats.
  static constexpr std::int64_t offset(std::int64_t c, std::int64_t k, std::int64_t l) {
    if (shares_rows) return (c * s.v.kernel + l) * plane(rows) + k * s.h.dilation * s.v.out;
    return ((c * s.h.kernel + k) * s.v.kernel + l) * plane(rows);
  }

  /// Copies the elements of one image that the rows of results [first, first + count) need.
  template <class X>
  static void copy(const X* x, std::int64_t first, std::int64_t count, float* columns) {
    for (std::int64_t c = 0; c < s.channels; ++c)
      unrolled<s.v.kernel>([&](auto column) {
        constexpr std::int64_t l = column;
        for (std::int64_t k = 0; k < (shares_rows ? 1 : s.h.kernel); ++k) {
          float* to = columns + offset(c, k, l);
          const std::int64_t x_rows = shares_rows ? count + s.h.span() - 1 : count;
          for (std::int64_t row = 0; row < x_rows; ++row, to += s.v.out)
            copy_row<l>(x + c * s.x_c, shares_rows ? s.h.at(first, 0) + row : s.h.at(first + row, k), to);
          std::fill_n(to, lanes, 0.f);
        }
      });
  }

 private:
  template <std::int64_t l, class X>
  static void copy_row(const X* plane, std::int64_t row, float* to) {
    if constexpr (s.v.stride == 1) {
      copy_whole_padded_row<s, s.v.out, s.v.at(0, l)>(plane, row, to);
    } else {
      const X* from = plane + row * s.v.in;
      for (std::int64_t j = 0; j < s.v.out; ++j)
        to[j] = s.h.contains(row) && s.v.contains(s.v.at(j, l)) ? static_cast<float>(from[s.v.at(j, l)]) : 0.f;
    }
  }
};

/// Convolution with vectors along results, for short sums or few result channels: ConvColumns times the weights, unpacked.
template <ConvShape s>
struct ConvByPixels {
  using Columns = ConvColumns<s>;
  static constexpr bool fits = Columns::fits && s.x_v == 1 && s.y_v == 1 && s.y_row() == s.v.out && !is_long_product(s.terms());

  /// Computes the results of `vectors` vectors from `pixel` on, of which the last has `last` elements.
  template <std::int64_t results, std::int64_t vectors, std::int64_t last = lanes, class W, class Rows>
  [[gnu::noinline]] static void tile(const float* columns, const W* w, std::int64_t pixel, const Rows& rows) {
    Lanes sum[std::size_t(results)][std::size_t(vectors)];
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < results; ++i)
#pragma GCC unroll 64
      for (std::int64_t j = 0; j < vectors; ++j) sum[i][j] = Lanes(0.f);
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t k = 0; k < s.h.kernel; ++k)
        for (std::int64_t l = 0; l < s.v.kernel; ++l) {
          const float* from = columns + Columns::offset(c, k, l) + pixel;
          const W* weight = w + c * s.w_c + k * s.w_h + l * s.w_v;
          Lanes element[std::size_t(vectors)];
#pragma GCC unroll 64
          for (std::int64_t j = 0; j < vectors; ++j) element[j] = Lanes::load_unaligned(from + j * lanes);
#pragma GCC unroll 64
          for (std::int64_t i = 0; i < results; ++i) {
            const Lanes factor(static_cast<float>(weight[i * s.w_m]));
#pragma GCC unroll 64
            for (std::int64_t j = 0; j < vectors; ++j) sum[i][j] = math::fma(factor, element[j], sum[i][j]);
          }
        }
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < results; ++i) {
#pragma GCC unroll 64
      for (std::int64_t j = 0; j + 1 < vectors; ++j) rows.put(i, pixel + j * lanes, sum[i][j]);
      rows.template put<last>(i, pixel + (vectors - 1) * lanes, sum[i][vectors - 1]);
    }
  }
  /// Computes `count` rows of results from `first_row` on, the first of which go to y.
  template <std::int64_t count, class W, class Y>
  static void run_chunk(const float* columns, const W* w, Y y, std::int64_t first_row) {
    constexpr std::int64_t pixels = count * s.v.out;
    constexpr std::int64_t vectors = std::min<std::int64_t>(3, pixels / lanes), step = vectors * lanes;
    in_blocks<s.results, even_block(s.results, most_accumulators / vectors)>([&](std::int64_t m, auto results) {
      const auto rows = rows_at<s, results>(y, m);
      std::int64_t q = 0;
      for (; q + step <= pixels; q += step) tile<results, vectors>(columns, w + m * s.w_m, q, rows);
      constexpr std::int64_t rest = pixels % step;
      if constexpr (rest != 0 && std::remove_cvref_t<decltype(rows)>::may_repeat)  // the last ones overlap those before
        tile<results, vectors>(columns, w + m * s.w_m, pixels - step, rows);
      else if constexpr (rest != 0)  // the columns have room to read more
        tile<results, ceil_div(rest, lanes), (rest - 1) % lanes + 1>(columns, w + m * s.w_m, q, rows);
      finish_rows(rows, first_row, count);
    });
  }
  /// Arrays of a convolution on the stack.
  struct Arrays {
    alignas(64) float columns[Columns::size];
  };
  template <class X, class W, class Y>
  [[gnu::noinline]] static void run(const X* x, const W* w, Y y) {
    Arrays arrays;
    auto& [columns] = arrays;
    for (std::int64_t n = 0; n < s.images; ++n)
      in_blocks<s.h.out, Columns::rows>([&](std::int64_t i, auto rows) {
        Columns::copy(x + n * s.x_n, i, rows, columns);
        run_chunk<rows>(columns, w, results_at<s>(y, n, i * s.v.out), i);
      });
  }
};

}  // namespace tilewright::kernel
