#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/conv/winograd_points.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"

namespace tilewright::kernel {

/// Gradient of the weights in Winograd's form: for each point, the sum over all tiles of the products of elements and gradients.
/// If the points of all elements fit on the stack, each is computed once, and sums stay in registers for all tiles.
template <ConvShape s>
struct WinogradWeights {
  static constexpr WinogradTiles tiles{s};
  static constexpr std::int64_t of_image = tiles.rows * tiles.columns;
  /// Largest numbers of floats of points on the stack, and of result channels with sums there at once.
  static constexpr std::int64_t most_points = 49'152, most_results = 64;
  static constexpr std::int64_t points_of(std::int64_t tile_count, std::int64_t channels) {
    return winograd_points * tile_count * channels;
  }
  /// Input channels of which points of all images are on the stack together; `lanes` if even these do not fit.
  static constexpr std::int64_t block_channels = [] {
    std::int64_t count = round_up(s.channels, lanes);
    while (count > lanes && points_of(s.images * of_image, count) > most_points) count = round_up(count / 2, lanes);
    return count;
  }();
  static constexpr bool all_images = points_of(s.images * of_image, block_channels) <= most_points;
  /// Result channels of which sums are on the stack together. If points of elements are computed again for each block, it is
  /// large.
  static constexpr std::int64_t block_results = all_images ? lanes
                                                           : even_block(round_up(s.results, lanes), most_results) / lanes * lanes;
  /// Rows of tiles of an image at once, or images.
  static constexpr std::int64_t rows = [] {
    std::int64_t count = tiles.rows;
    while (!all_images && count > 1 && points_of(count * tiles.columns, lanes + block_results) > most_points)
      count = ceil_div(count, 2);
    return count;
  }();
  static constexpr std::int64_t images = [] {
    if (all_images) return s.images;
    const std::int64_t fit = most_points / points_of(of_image, lanes + block_results);
    return rows < tiles.rows ? 1 : even_block(s.images, std::max<std::int64_t>(1, fit));
  }();
  static constexpr bool fits = [] {
    if constexpr (!WinogradTiles::fit(s)) return false;
    else
      return (all_images || points_of(rows * tiles.columns, lanes + block_results) <= most_points) &&
             !is_long_product(s.images * of_image);
  }();
  /// Returns the distance between the sums of two points, in floats.
  static constexpr std::int64_t sums_step(std::int64_t results, std::int64_t channels) {
    return winograd_weights_step(results * channels);
  }
  template <std::int64_t tile_rows, std::int64_t channels>
  static constexpr ChannelBlock input{.rows = winograd_results * tile_rows + winograd_taps - 1,
                                      .columns = winograd_results * tiles.columns + winograd_taps - 1,
                                      .channels = channels};
  template <std::int64_t tile_rows, std::int64_t results>
  static constexpr ChannelBlock gradient{
      .rows = winograd_results * tile_rows, .columns = winograd_results * tiles.columns, .channels = results};
  /// Arrays of the gradient for a block of input channels on the stack.
  struct Arrays {
    alignas(64) float planes[(std::max)(s.x_channels_are_last() ? 1 : input<rows, block_channels>.size(),
                                        s.y_channels_are_last() ? 1 : gradient<rows, block_results>.size())];
    alignas(64) float zeros[winograd_size * (std::max)(s.x_v, s.y_v)];  // pixels outside images whose channels are the last axis
    alignas(64) float elements[points_of(images * rows * tiles.columns, block_channels)];
    alignas(64) float gradients[points_of(images * rows * tiles.columns, block_results)];
    alignas(64) float sums[winograd_points * sums_step(block_results, block_channels)];
  };
  template <class>
  static constexpr std::int64_t stack_bytes() {
    return sizeof(Arrays);
  }

  /// The sums of a point, as (result channel, input channel): products of `count` tiles, added to what is there unless all images
  /// are summed at once.
  template <std::int64_t count, std::int64_t pitch, std::int64_t x_pitch>
  static void add_products(const float* elements, const float* gradients, float* sums) {
    constexpr std::int64_t width = winograd_width(x_pitch), vectors = width / lanes;
    for (std::int64_t c = 0; c < x_pitch; c += width)
      in_blocks<pitch, even_block(pitch, most_accumulators / vectors)>([&](std::int64_t m, auto results) {
        add_block<results, vectors, count, pitch, x_pitch>(elements + c, gradients + m, sums + m * x_pitch + c);
      });
  }
  template <std::int64_t results, std::int64_t vectors, std::int64_t count, std::int64_t pitch, std::int64_t x_pitch>
  [[gnu::noinline]] static void add_block(const float* elements, const float* gradients, float* sums) {
    Lanes sum[std::size_t(results)][std::size_t(vectors)];
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v)
        sum[m][v] = all_images ? Lanes(0.f) : Lanes::load_aligned(sums + m * x_pitch + v * lanes);
    for (std::int64_t tile = 0; tile < count; ++tile, elements += x_pitch, gradients += pitch) {
      keep_apart(gradients);
      Lanes element[std::size_t(vectors)];
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) element[v] = Lanes::load_aligned(elements + v * lanes);
#pragma GCC unroll 64
      for (std::int64_t m = 0; m < results; ++m) {
        Lanes factor(gradients[m]);
        if constexpr (vectors > 1) keep_in_register(factor);
#pragma GCC unroll 64
        for (std::int64_t v = 0; v < vectors; ++v) sum[m][v] = math::fma(factor, element[v], sum[m][v]);
      }
    }
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) sum[m][v].store_aligned(sums + m * x_pitch + v * lanes);
  }
  /// Stores the gradients of the kernels from one result channel to `channels` input channels. sums: of the first point; points
  /// are `point` floats apart.
  template <std::int64_t channels, std::int64_t point, class DW>
  [[gnu::noinline]] static void taps_of_points(const float* sums, DW* dw) {
    constexpr std::int64_t taps = winograd_taps * winograd_taps;
    const auto load = [&](std::int64_t row, std::int64_t column) __attribute__((always_inline)) {
      return Lanes::load_aligned(sums + (row * winograd_size + column) * point);
    };
    if constexpr (lanes >= taps) {
      Square square;
#pragma GCC unroll 64
      for (std::int64_t i = taps; i < lanes; ++i) square[i] = Lanes(0.f);
      transform_tile<TapLineBack>(load, [&](std::int64_t row, std::int64_t column, const Lanes& sum)
                                            __attribute__((always_inline)) { square[row * winograd_taps + column] = sum; });
      transpose_square(square);
#pragma GCC unroll 64
      for (std::int64_t c = 0; c < channels; ++c) Line<DW, 1>{dw + c * s.w_c}.template store<taps>(0, square[c]);
    } else {
      alignas(64) float columns[taps * lanes];
      transform_tile<TapLineBack>(
          load, [&](std::int64_t row, std::int64_t column, const Lanes& sum)
                    __attribute__((always_inline)) { sum.store_aligned(columns + (row * winograd_taps + column) * lanes); });
      transpose_back<channels>(columns, lanes, taps, dw, s.w_c);
    }
  }
  /// Computes the points of the elements of `together` images, and those of the gradients of a block of result channels.
  template <std::int64_t tile_rows, std::int64_t together, std::int64_t channels, class X>
  static void points_of_elements(const X* x, std::int64_t row, Arrays& arrays) {
    constexpr ChannelBlock block = input<tile_rows, channels>;
    constexpr std::int64_t of_part = tile_rows * tiles.columns;
    for (std::int64_t n = 0; n < together; ++n) {
      float* const to = arrays.elements + n * of_part * block.pitch();
      if constexpr (s.x_channels_are_last()) {
        PixelPoints<ElementLine, PixelBlock{s.h.in, s.v.in, s.x_v, channels}, -s.v.begin, tile_rows, tiles.columns,
                    together * of_part>::run(x + n * s.x_n, row - s.h.begin, arrays.zeros, to);
      } else {
        copy_to_channels<block, s.h.in, s.v.in, s.x_c>(x + n * s.x_n, row - s.h.begin, -s.v.begin, arrays.planes);
        points_of_tiles<ElementLine, block, tile_rows, tiles.columns, together * of_part>(arrays.planes, to);
      }
    }
  }
  template <std::int64_t tile_rows, std::int64_t together, std::int64_t results, class DY>
  static void points_of_gradients(const DY* dy, std::int64_t row, Arrays& arrays) {
    constexpr ChannelBlock block = gradient<tile_rows, results>;
    constexpr std::int64_t of_part = tile_rows * tiles.columns;
    for (std::int64_t n = 0; n < together; ++n) {
      float* const to = arrays.gradients + n * of_part * block.pitch();
      if constexpr (s.y_channels_are_last()) {
        PixelPoints<ResultLineBack, PixelBlock{s.h.out, s.v.out, s.y_v, results}, 0, tile_rows, tiles.columns,
                    together * of_part>::run(dy + n * s.y_n, row, arrays.zeros, to);
      } else {
        copy_to_channels<block, s.h.out, s.v.out, s.y_m>(dy + n * s.y_n, row, 0, arrays.planes);
        points_of_tiles<ResultLineBack, block, tile_rows, tiles.columns, together * of_part>(arrays.planes, to);
      }
    }
  }
  template <std::int64_t channels, class X, class DY, class DW>
  [[gnu::noinline]] static void run_block(const X* x, const DY* dy, DW* dw) {
    constexpr std::int64_t x_pitch = round_up(channels, lanes);
    Arrays arrays;
    std::memset(arrays.zeros, 0, sizeof arrays.zeros);
    in_blocks<s.results, block_results>([&](std::int64_t first, auto results) {
      constexpr std::int64_t pitch = round_up(results, lanes);
      if constexpr (!all_images) std::memset(arrays.sums, 0, sizeof arrays.sums);
      in_blocks<s.images, images>([&](std::int64_t n, auto together) {
        in_blocks<tiles.rows, rows>([&](std::int64_t tile_row, auto tile_rows) {
          constexpr std::int64_t count = together * tile_rows * tiles.columns;
          const std::int64_t row = tile_row * winograd_results;
          if (!all_images || first == 0) points_of_elements<tile_rows, together, channels>(x + n * s.x_n, row, arrays);
          points_of_gradients<tile_rows, together, results>(dy + n * s.y_n + first * s.y_m, row, arrays);
          for (std::int64_t point = 0; point < winograd_points; ++point)
            add_products<count, pitch, x_pitch>(arrays.elements + point * count * x_pitch,
                                                arrays.gradients + point * count * pitch,
                                                arrays.sums + point * sums_step(pitch, x_pitch));
        });
      });
      for (std::int64_t m = 0; m < results; ++m)
        in_blocks<channels, lanes>([&](std::int64_t c, auto vector) {
          taps_of_points<vector, sums_step(pitch, x_pitch)>(arrays.sums + m * x_pitch + c, dw + (first + m) * s.w_m + c * s.w_c);
        });
    });
  }
  template <class X, class DY, class DW>
  static void run(const X* x, const DY* dy, DW* dw) {
    in_blocks<s.channels, block_channels>(
        [&](std::int64_t c, auto channels) { run_block<channels>(x + c * s.x_c, dy, dw + c * s.w_c); });
  }
};

}  // namespace tilewright::kernel
