#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tilewright/kernel/conv/rows.hpp"

namespace tilewright::kernel {

/// Results of a convolution that go to an epilogue instead of to memory. Element q of a plane, the results of one image and
/// channel, is element (0, q) of a matrix of the epilogue.
template <class Epilogue>
struct PlaneEpilogue {
  const Epilogue& epilogue;
  std::int64_t plane = 0, pixel = 0;  ///< the first matrix, and the first element of each
};

/// Rows of results of neighbouring channels in memory, `step` elements apart.
template <std::int64_t step, class Y>
struct StoredRows {
  static constexpr bool may_repeat = true;  ///< whether an element may be put several times
  Y* y;
  template <std::int64_t = lanes>
  [[gnu::always_inline]] void put(std::int64_t row, std::int64_t pixel, const Lanes& x) const {
    store_floats(y + row * step + pixel, x);
  }
};
/// Rows of results of neighbouring channels that go to an epilogue.
template <class Epilogue, std::int64_t count>
struct EpilogueRows {
  static constexpr bool may_repeat = false;
  std::array<Epilogue, static_cast<std::size_t>(count)> epilogues;
  std::int64_t first_pixel;
  /// Puts the first `elements` elements of a vector.
  template <std::int64_t elements = lanes>
  [[gnu::always_inline]] void put(std::int64_t row, std::int64_t pixel, const Lanes& x) const {
    const Epilogue& epilogue = epilogues[static_cast<std::size_t>(row)];
    if constexpr (elements == lanes) epilogue(0, first_pixel + pixel, x);
    else epilogue(0, first_pixel + pixel, PartOfBatch<elements, Lanes>{x});
  }
};

/// Returns where results of image n from `pixel` on go.
template <ConvShape s, class Y>
[[gnu::always_inline]] inline Y* results_at(Y* y, std::int64_t n, std::int64_t pixel) {
  return y + n * s.y_n + pixel;
}
template <ConvShape s, class E>
[[gnu::always_inline]] inline PlaneEpilogue<E> results_at(PlaneEpilogue<E> y, std::int64_t n, std::int64_t pixel) {
  return {y.epilogue, y.plane + n * s.results, y.pixel + pixel};
}
/// Returns the rows of `count` channels from m on.
template <ConvShape s, std::int64_t count, class Y>
[[gnu::always_inline]] inline StoredRows<s.y_m, Y> rows_at(Y* y, std::int64_t m) {
  return {y + m * s.y_m};
}
template <ConvShape s, std::int64_t count, class E>
inline EpilogueRows<E, count> rows_at(PlaneEpilogue<E> y, std::int64_t m) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return EpilogueRows<E, count>{{y.epilogue.matrix(y.plane + m + static_cast<std::int64_t>(i))...}, y.pixel};
  }(std::make_index_sequence<static_cast<std::size_t>(count)>());
}

/// Tells an epilogue that rows of results of neighbouring channels are complete: `count`, from `first` on.
template <class E, std::int64_t channels>
[[gnu::always_inline]] inline void finish_rows(const EpilogueRows<E, channels>& rows, std::int64_t first, std::int64_t count) {
  if constexpr (requires { requires E::reads_rows; })
    for (const E& epilogue : rows.epilogues) epilogue.finish_rows(first, count);
}
template <std::int64_t step, class Y>
[[gnu::always_inline]] inline void finish_rows(const StoredRows<step, Y>&, std::int64_t, std::int64_t) {}
/// Results of a convolution that go to an epilogue, with channels as the last axis of memory. Result (channel, row, column) of
/// image n is element (column, channel) of matrix n * h.out + row of the epilogue.
template <class Epilogue>
struct PixelEpilogue {
  const Epilogue& epilogue;
  std::int64_t row = 0, column = 0;  ///< the first matrix, and the first row of each
};
/// A row of results in memory, whose channels are the last axis.
template <std::int64_t step, class Y>
struct StoredPixels {
  Y* y;
  [[gnu::always_inline]] void put(std::int64_t column, std::int64_t channel, const Lanes& x) const {
    store_floats(y + column * step + channel, x);
  }
};
/// A row of results that goes to an epilogue, with vectors of channels.
template <class Epilogue>
struct EpiloguePixels {
  Epilogue epilogue;
  std::int64_t first_column;
  [[gnu::always_inline]] void put(std::int64_t column, std::int64_t channel, const Lanes& x) const {
    epilogue(first_column + column, channel, x);
  }
};
template <ConvShape s, class E>
[[gnu::always_inline]] inline PixelEpilogue<E> results_at(PixelEpilogue<E> y, std::int64_t n, std::int64_t pixel) {
  return {y.epilogue, y.row + n * s.h.out + pixel / s.y_row(), y.column + pixel % s.y_row() / s.y_v};
}
/// Returns a row of results whose channels are the last axis.
template <ConvShape s, class Y>
[[gnu::always_inline]] inline StoredPixels<s.y_v, Y> pixels_at(Y* y, std::int64_t row) {
  return {y + row * s.y_row()};
}
template <ConvShape s, class E>
[[gnu::always_inline]] inline EpiloguePixels<E> pixels_at(PixelEpilogue<E> y, std::int64_t row) {
  return {y.epilogue.matrix(y.row + row), y.column};
}

/// Puts rows x columns sums of `results` channels, whole vectors that are `step` floats apart, as the results of y's channels
/// from `first` on, which are the last axis.
template <ConvShape s, std::int64_t step, class Y>
inline void put_pixels(const float* sums, std::int64_t results, std::int64_t rows, std::int64_t columns, Y y,
                       std::int64_t first) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = pixels_at<s>(y, i);
    for (std::int64_t j = 0; j < columns; ++j, sums += step)
      for (std::int64_t m = 0; m < results; m += lanes) row.put(j, first + m, Lanes::load_aligned(sums + m));
  }
}
/// Results of a tile from a row, a column and a channel of y on, where channels are the last axis.
template <class Y>
struct PixelTile {
  Y y;
  std::int64_t channel, row = 0, column = 0;
  constexpr PixelTile at(std::int64_t i, std::int64_t j) const { return {y, channel, i, j}; }
};
/// Stands for the results of a tile that are not put from registers: the same type for all y.
struct NoPixelTile {
  constexpr NoPixelTile at(std::int64_t, std::int64_t) const { return {}; }
};
template <bool puts_pixels, class Y>
constexpr auto pixel_tile(const Y& y, std::int64_t channel) {
  if constexpr (puts_pixels) return PixelTile<Y>{y, channel};
  else return NoPixelTile();
}

/// Gives `count` elements, fewer than twice `width`, to an epilogue: in narrower vectors, then one by one.
template <std::int64_t width, class E>
inline void put_rest(const E& epilogue, std::int64_t pixel, const float* elements, std::int64_t count) {
  if constexpr (width >= 4) {
    using Batch = simd::make_sized_batch_t<float, static_cast<std::size_t>(width)>;
    const std::int64_t whole = count >= width ? width : 0;
    if (whole > 0) epilogue(0, pixel, Batch::load_unaligned(elements));
    put_rest<width / 2>(epilogue, pixel + whole, elements + whole, count - whole);
  } else {
    for (std::int64_t i = 0; i < count; ++i) epilogue(0, pixel + i, elements[i]);
  }
}
/// Reads `pixels` rows of `lanes` floats, `from_stride` apart, and puts the first `count` lanes as rows.
template <std::int64_t count, std::int64_t step, class Y>
inline void put_transposed(const float* from, std::int64_t from_stride, std::int64_t pixels, StoredRows<step, Y> rows) {
  transpose_back<count>(from, from_stride, pixels, rows.y, step);
}
template <std::int64_t count, class E>
inline void put_transposed(const float* from, std::int64_t from_stride, std::int64_t pixels, const EpilogueRows<E, count>& rows) {
  alignas(64) float square[lanes * lanes];
  for (std::int64_t first = 0; first < pixels; first += lanes) {
    const std::int64_t width = (std::min)(pixels - first, lanes);
    Square part;
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < lanes; ++i)
      part[i] = i < width ? Lanes::load_unaligned(from + (first + i) * from_stride) : Lanes(0.f);
    transpose_square(part);
#pragma GCC unroll 64
    for (std::int64_t i = 0; i < count; ++i) part[i].store_aligned(square + i * lanes);
    for (std::int64_t row = 0; row < count; ++row) {
      const float* at = square + row * lanes;
      if (width == lanes) rows.put(row, first, Lanes::load_aligned(at));
      else put_rest<lanes / 2>(rows.epilogues[static_cast<std::size_t>(row)], rows.first_pixel + first, at, width);
    }
  }
}

}  // namespace tilewright::kernel
