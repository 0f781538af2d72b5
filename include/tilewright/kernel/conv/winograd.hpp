#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/conv/data.hpp"
#include "tilewright/kernel/conv/winograd_points.hpp"

namespace tilewright::kernel {

/// Convolution in Winograd's form: vectors run along channels.
template <ConvShape s>
struct WinogradConv {
  static constexpr WinogradTiles tiles{s};
  static constexpr std::int64_t width = winograd_width(s.results), x_pitch = round_up(s.channels, lanes);
  /// Largest numbers of floats on the stack: of weights' points, and of points of elements and results.
  static constexpr std::int64_t most_weights = 81'920, most_points = 65'536;
  struct Chunk {
    std::int64_t results, rows;
    constexpr std::int64_t count() const { return rows * tiles.columns; }
    constexpr std::int64_t weights() const { return winograd_points * winograd_weights_step(results * s.channels); }
    constexpr std::int64_t points() const { return winograd_points * count() * (x_pitch + results); }
    constexpr bool fits() const { return weights() <= most_weights && points() <= most_points; }
  };
  static constexpr Chunk chunk = [] {
    Chunk c{round_up(s.results, width), tiles.rows};
    while (c.weights() > most_weights && c.results > width) c.results = round_up(c.results / 2, width);
    while (c.points() > most_points && c.rows > 1) c.rows = ceil_div(c.rows, 2);
    while (c.points() > most_points && c.results > width) c.results = round_up(c.results / 2, width);
    return c;
  }();
  static constexpr bool fits = [] {
    if constexpr (WinogradTiles::fit(s)) return chunk.fits();
    else return false;
  }();
  template <std::int64_t rows>
  static constexpr ChannelBlock input{.rows = winograd_results * rows + winograd_taps - 1,
                                      .columns = winograd_results * tiles.columns + winograd_taps - 1,
                                      .channels = s.channels};
  /// Arrays of a convolution on the stack.
  struct Arrays {
    alignas(64) float weights[chunk.weights()];
    alignas(64) float input[s.x_channels_are_last() ? winograd_size * s.x_v : WinogradConv::input<chunk.rows>.size()];
    alignas(64) float elements[winograd_points * chunk.count() * x_pitch];
    alignas(64) float products[winograd_points * chunk.count() * chunk.results];
    alignas(64) float output[s.y_channels_are_last() ? 1 : winograd_results * chunk.rows * s.v.out * chunk.results];
  };

  /// Computes `rows` rows of tiles of `pitch` result channels.
  template <std::int64_t rows, std::int64_t pitch>
  [[gnu::noinline]] static void results_of_points(const float* points, float* output) {
    constexpr std::int64_t count = rows * tiles.columns;
    for (std::int64_t i = 0; i < rows; ++i)
      in_blocks<s.v.out, winograd_results>([&](std::int64_t j, auto columns) {
        for (std::int64_t m = 0; m < pitch; m += lanes) {
          const float* from = points + (i * tiles.columns + j / winograd_results) * pitch + m;
          float* to = output + (i * winograd_results * s.v.out + j) * pitch + m;
          transform_tile<ResultLine>(
              [&](std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
                return Lanes::load_aligned(from + (row * winograd_size + column) * count * pitch);
              },
              [&](std::int64_t row, std::int64_t column, const Lanes& y) __attribute__((always_inline)) {
                if (column < columns) y.store_aligned(to + (row * s.v.out + column) * pitch);
              });
        }
      });
  }
  /// Computes `rows` rows of tiles, and gives the results of `results` channels from `first` on to y, whose channels are the last
  /// axis. The results have `valid` rows; rows of tiles may end after them.
  template <std::int64_t rows, std::int64_t pitch, std::int64_t results, class Y>
  [[gnu::noinline]] static void pixels_of_points(const float* points, Y y, std::int64_t first, std::int64_t valid) {
    constexpr std::int64_t count = rows * tiles.columns;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t row = i * winograd_results, row_end = (std::min)(winograd_results, valid - row);
      using Row = decltype(pixels_at<s>(y, 0));
      const Row to[winograd_results]{pixels_at<s>(y, row), pixels_at<s>(y, (std::min)(row + 1, valid - 1)),
                                     pixels_at<s>(y, (std::min)(row + 2, valid - 1)),
                                     pixels_at<s>(y, (std::min)(row + 3, valid - 1))};
      in_blocks<s.v.out, winograd_results>([&](std::int64_t j, auto columns) {
        for (std::int64_t m = 0; m < results; m += lanes) {
          const float* from = points + (i * tiles.columns + j / winograd_results) * pitch + m;
          transform_tile<ResultLine>(
              [&](std::int64_t k, std::int64_t l)
                  __attribute__((always_inline)) { return Lanes::load_aligned(from + (k * winograd_size + l) * count * pitch); },
              [&](std::int64_t k, std::int64_t l, const Lanes& x) __attribute__((always_inline)) {
                if (l < columns && k < row_end) to[k].put(j + l, first + m, x);
              });
        }
      });
    }
  }
  /// Computes the results of `results` channels from `first` on.
  template <std::int64_t results, class X, class W, class Y>
  [[gnu::noinline]] static void run_block(const X* x, const W* w, Y y, std::int64_t first) {
    constexpr std::int64_t pitch = round_up(results, width);
    Arrays arrays;
    points_of_weights<s.channels, results, width, s.w_c, s.w_m, s.w_v == -1>(w, arrays.weights);
    if constexpr (s.x_channels_are_last()) std::memset(arrays.input, 0, sizeof arrays.input);
    for (std::int64_t n = 0; n < s.images; ++n)
      in_blocks<tiles.rows, chunk.rows>([&](std::int64_t tile_row, auto rows) {
        constexpr ChannelBlock block = input<rows>;
        constexpr std::int64_t count = rows * tiles.columns;
        const std::int64_t row = tile_row * winograd_results;
        if constexpr (s.x_channels_are_last()) {
          PixelPoints<ElementLine, PixelBlock{s.h.in, s.v.in, s.x_v, s.channels}, -s.v.begin, rows, tiles.columns>::run(
              x + n * s.x_n, row - s.h.begin, arrays.input, arrays.elements);
        } else {
          copy_to_channels<block, s.h.in, s.v.in, s.x_c>(x + n * s.x_n, row - s.h.begin, -s.v.begin, arrays.input);
          points_of_tiles<ElementLine, block, rows, tiles.columns>(arrays.input, arrays.elements);
        }
        WinogradProducts<count, s.channels, x_pitch, pitch, width>::run(arrays.elements, arrays.weights, arrays.products);
        if constexpr (s.y_channels_are_last()) {
          pixels_of_points<rows, pitch, results>(arrays.products, results_at<s>(y, n, row * s.y_row()), first, s.h.out - row);
          return;
        } else {
          results_of_points<rows, pitch>(arrays.products, arrays.output);
          const std::int64_t y_rows = (std::min)(winograd_results * rows, s.h.out - row);
          const auto at = results_at<s>(y, n, row * s.v.out);
          in_blocks<results, lanes>([&](std::int64_t m, auto channels) {
            const auto planes = rows_at<s, channels>(at, first + m);
            put_transposed<channels>(arrays.output + m, pitch, y_rows * s.v.out, planes);
            finish_rows(planes, row, y_rows);
          });
        }
      });
  }
  template <class X, class W, class Y>
  static void run(const X* x, const W* w, Y y) {
    in_blocks<s.results, chunk.results>([&](std::int64_t m, auto results) { run_block<results>(x, w + m * s.w_m, y, m); });
  }
};

/// Gradient of the data in Winograd's form: the transpose of WinogradConv, whose tiles cover dy. The contributions of
/// overlapping tiles are added. All tiles of an image are on the stack together.
template <ConvShape s>
struct WinogradData {
  static constexpr WinogradTiles tiles{s};
  static constexpr std::int64_t count = tiles.rows * tiles.columns;
  static constexpr std::int64_t width = winograd_width(s.channels), dy_pitch = round_up(s.results, lanes);
  /// Largest numbers of floats on the stack: of weights' points, of points of elements and results, and of a block of dx.
  static constexpr std::int64_t most_weights = 81'920, most_points = 65'536, most_elements = 32'768;
  struct Chunk {
    std::int64_t channels;
    constexpr std::int64_t weights() const { return winograd_points * winograd_weights_step(channels * s.results); }
    constexpr std::int64_t points() const { return winograd_points * count * (dy_pitch + channels); }
    constexpr std::int64_t elements() const { return s.h.in * s.v.in * channels; }
    constexpr bool fits() const { return weights() <= most_weights && points() <= most_points && elements() <= most_elements; }
  };
  static constexpr Chunk chunk = [] {
    Chunk c{round_up(s.channels, width)};
    while (!c.fits() && c.channels > width) c.channels = round_up(c.channels / 2, width);
    return c;
  }();
  static constexpr bool fits = [] {
    if constexpr (WinogradTiles::fit(s)) return chunk.fits();
    else return false;
  }();
  static constexpr ChannelBlock input{
      .rows = winograd_results * tiles.rows, .columns = winograd_results * tiles.columns, .channels = s.results};
  /// Arrays of the gradient on the stack.
  struct Arrays {
    alignas(64) float weights[chunk.weights()];
    alignas(64) float input[s.y_channels_are_last() ? winograd_size * s.y_v : WinogradData::input.size()];
    alignas(64) float gradients[winograd_points * count * dy_pitch];
    alignas(64) float products[winograd_points * count * chunk.channels];
    alignas(64) float output[s.x_channels_are_last() ? 1 : chunk.elements()];
  };

  /// Adds the contributions of all tiles for `channels` channels to pixels that are `step` floats apart.
  template <std::int64_t pitch, std::int64_t channels, std::int64_t step>
  [[gnu::noinline]] static void elements_of_points(const float* points, float* output) {
    if constexpr (channels == step) std::memset(output, 0, static_cast<std::size_t>(s.h.in * s.v.in * step) * sizeof(float));
    else
      for (std::int64_t pixel = 0; pixel < s.h.in * s.v.in; ++pixel) std::fill_n(output + pixel * step, channels, 0.f);
    for (std::int64_t i = 0; i < tiles.rows; ++i)
      for (std::int64_t j = 0; j < tiles.columns; ++j)
        for (std::int64_t c = 0; c < channels; c += lanes) {
          const float* from = points + (i * tiles.columns + j) * pitch + c;
          const std::int64_t first_row = i * winograd_results - s.h.begin, first_column = j * winograd_results - s.v.begin;
          float* to = output + (first_row * s.v.in + first_column) * step + c;
          transform_tile<ElementLineBack>(
              [&](std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
                return Lanes::load_aligned(from + (row * winograd_size + column) * count * pitch);
              },
              [&](std::int64_t row, std::int64_t column, const Lanes& x) __attribute__((always_inline)) {
                if (!s.h.contains(first_row + row) || !s.v.contains(first_column + column)) return;
                float* at = to + (row * s.v.in + column) * step;
                (Lanes::load_unaligned(at) + x).store_unaligned(at);
              });
        }
  }
  template <std::int64_t channels, class DY, class W, class DX>
  [[gnu::noinline]] static void run_block(const DY* dy, const W* w, DX* dx) {
    constexpr std::int64_t pitch = round_up(channels, width);
    Arrays arrays;
    points_of_weights<s.results, channels, width, s.w_m, s.w_c, s.w_v == -1>(w, arrays.weights);
    if constexpr (s.y_channels_are_last()) std::memset(arrays.input, 0, sizeof arrays.input);
    for (std::int64_t n = 0; n < s.images; ++n) {
      if constexpr (s.y_channels_are_last()) {
        PixelPoints<ResultLineBack, PixelBlock{s.h.out, s.v.out, s.y_v, s.results}, 0, tiles.rows, tiles.columns>::run(
            dy + n * s.y_n, 0, arrays.input, arrays.gradients);
      } else {
        copy_to_channels<input, s.h.out, s.v.out, s.y_m>(dy + n * s.y_n, 0, 0, arrays.input);
        points_of_tiles<ResultLineBack, input, tiles.rows, tiles.columns>(arrays.input, arrays.gradients);
      }
      WinogradProducts<count, s.results, dy_pitch, pitch, width>::run(arrays.gradients, arrays.weights, arrays.products);
      if constexpr (s.x_channels_are_last()) {
        elements_of_points<pitch, channels, s.x_v>(arrays.products, dx + n * s.x_n);
      } else {
        elements_of_points<pitch, pitch, pitch>(arrays.products, arrays.output);
        in_blocks<channels, lanes>([&](std::int64_t c, auto rows) {
          transpose_back<rows>(arrays.output + c, pitch, s.h.in * s.v.in, dx + n * s.x_n + c * s.x_c, s.x_c);
        });
      }
    }
  }
  template <class DY, class W, class DX>
  static void run(const DY* dy, const W* w, DX* dx) {
    in_blocks<s.channels, chunk.channels>(
        [&](std::int64_t c, auto channels) { run_block<channels>(dy, w + c * s.w_c, dx + c * s.x_c); });
  }
};

/// Gradient of the data in Winograd's form: WinogradData, or for large images a convolution with the turned weights, which has
/// more tiles.
template <ConvShape s>
struct WinogradDataForm {
  static constexpr ConvShape turned = data_gradient_shape(s);
  static constexpr bool fits = WinogradData<s>::fits || WinogradConv<turned>::fits;
  static constexpr std::size_t stack_bytes() {
    if constexpr (WinogradData<s>::fits) return sizeof(typename WinogradData<s>::Arrays);
    else return sizeof(typename WinogradConv<turned>::Arrays);
  }
  template <class DY, class W, class DX>
  static void run(const DY* dy, const W* w, DX* dx) {
    if constexpr (WinogradData<s>::fits) WinogradData<s>::run(dy, w, dx);
    else WinogradConv<turned>::run(dy, w + turned.taps() - 1, dx);
  }
};

}  // namespace tilewright::kernel
