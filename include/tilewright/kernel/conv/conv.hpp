#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/conv/by_pixels.hpp"

namespace tilewright::kernel {

/// Convolution with vectors along result channels. Weights are packed as (block of channels, c, k, l, channel in block), the
/// input is copied with its padding, and a tile of results for some channels, rows and columns stays in registers for the whole
/// sum: each element of the input is multiplied with vectors of weights. At the end the results are transposed, because channels
/// are the outer axis.
template <ConvShape s>
struct ConvByChannels {
  static constexpr std::int64_t all_vectors = (s.results + lanes - 1) / lanes;
  /// A tile: vectors of result channels, rows and columns.
  static constexpr std::int64_t vectors = all_vectors == 1 ? 1 : all_vectors % 2 == 0 || all_vectors % 3 != 0 ? 2 : 3;
  static constexpr std::int64_t tile_results = vectors * lanes;
  static constexpr std::int64_t tile_pixels = most_accumulators / vectors;
  static constexpr std::int64_t tile_columns = even_block(s.v.out, tile_pixels);
  static constexpr std::int64_t tile_rows = even_block(s.h.out, std::max<std::int64_t>(1, tile_pixels / tile_columns));

  /// Floats that are packed, or summed, at once: they stay in the second-level cache and fit on the stack, 288 KB together. With
  /// a third of these numbers, Conv and ConvDataGrad/32x14x14 to 64 of ./dev bench kernels are divided differently.
  static constexpr std::int64_t most_weights = 32'768, most_input = 24'576, most_sums = 16'384;
  /// Largest number of columns of results at once: wider images are divided, so that some rows fit into most_input. No benchmark
  /// has such images.
  static constexpr std::int64_t most_columns = 256;
  /// Smallest number of tiles of result channels at once before channels of the input are divided: each tile walks over the
  /// packed input. No benchmark has enough channels.
  static constexpr std::int64_t least_tiles = 4;
  struct Chunk {
    std::int64_t results, channels, rows, columns;
    constexpr std::int64_t weights() const { return results * channels * s.taps(); }
    constexpr std::int64_t x_rows() const { return (rows - 1) * s.h.stride + s.h.span(); }
    constexpr std::int64_t x_columns() const { return (columns - 1) * s.v.stride + s.v.span(); }
    constexpr std::int64_t plane() const { return x_rows() * x_columns(); }
    constexpr std::int64_t sums() const { return rows * columns * results; }
    constexpr bool fits() const { return weights() <= most_weights && channels * plane() <= most_input && sums() <= most_sums; }
  };
  static constexpr Chunk chunk = [] {
    const auto half = [](std::int64_t extent, std::int64_t grain) {
      return (std::max)(grain, round_up((extent + 1) / 2, grain));
    };
    Chunk c{round_up(s.results, tile_results), s.channels, s.h.out, s.v.out};
    while (c.columns > most_columns) c.columns = half(c.columns, tile_columns);
    while (c.weights() > most_weights && c.results > least_tiles * tile_results) c.results = half(c.results, tile_results);
    while (c.weights() > most_weights && c.channels > 1) c.channels = half(c.channels, 1);
    while (c.sums() > most_sums && c.rows > tile_rows) c.rows = half(c.rows, tile_rows);
    while (c.channels * c.plane() > most_input && c.rows > tile_rows) c.rows = half(c.rows, tile_rows);
    while (c.channels * c.plane() > most_input && c.channels > 1) c.channels = half(c.channels, 1);
    return c;
  }();
  static constexpr bool fits = chunk.fits() && s.x_v == 1 && (!s.y_channels_are_last() || s.results % lanes == 0);
  /// Whether sums are long, so that the rounding errors of all sums follow after the sums (LongSums).
  static constexpr bool long_sums = is_long_product(s.terms());
  /// Whether tiles put their results where they belong, without a copy of all sums: their channels are the last axis.
  static constexpr bool puts_pixels = s.y_channels_are_last() && chunk.channels == s.channels && !long_sums;
  static constexpr bool whole_rows = chunk.columns == s.v.out;
  static constexpr bool all_channels = chunk.channels == s.channels;
  static constexpr std::int64_t pitch = chunk.x_columns();
  static constexpr bool columns_inside = s.v.first_inner() == 0 && s.v.last_inner() == s.v.out;
  /// Largest number of taps in a row of the kernel that are unrolled, to leave out columns of padding.
  static constexpr std::int64_t most_unrolled_taps = 5;
  /// Whether kernels read the input where it is, without a copy: tiles have whole rows, so it is known while compiling which
  /// columns of a tap are padding, and a tile has one row, or there is no padding above and below.
  template <class X>
  static constexpr bool in_place = [] {
    constexpr bool rows_inside = s.h.first_inner() == 0 && s.h.last_inner() == s.h.out;
    if (!std::is_same_v<X, float> || s.h_spacing != 1 || s.v_spacing != 1 || tile_columns != s.v.out) return false;
    if (!columns_inside && s.v.kernel > most_unrolled_taps) return false;
    for (std::int64_t o = 0; o < s.h.out; ++o) {  // each row of results sees a row
      bool sees = false;
      for (std::int64_t k = 0; k < s.h.kernel; ++k) sees = sees || s.h.contains(s.h.at(o, k));
      if (!sees) return false;
    }
    return rows_inside || tile_rows == 1;
  }();

  /// Adds the products of `channels` channels and the kernel's rows [k_begin, k_end) to a tile of sums. If `first`, the sums
  /// begin with these products. x: the copy of the input, or with `in_place`, the input, without padding.
  template <bool in_place, std::int64_t rows, std::int64_t columns, class Pixels>
  [[gnu::noinline]] static void tile(const float* x, const float* w, std::int64_t channels, std::int64_t k_begin,
                                     std::int64_t k_end, bool first, float* sums, std::int64_t sums_row,
                                     [[maybe_unused]] const Pixels& pixels) {
    Lanes sum[std::size_t(rows * columns)][std::size_t(vectors)];
#pragma GCC unroll 64
    for (std::int64_t p = 0; p < rows * columns; ++p)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) {
        if (first || long_sums || puts_pixels) sum[p][v] = Lanes(0.f);
        else sum[p][v] = Lanes::load_aligned(sums + p / columns * sums_row + p % columns * tile_results + v * lanes);
      }
    constexpr std::int64_t x_plane = in_place ? s.x_c : chunk.plane(), x_row = in_place ? s.v.in : pitch;
    constexpr std::int64_t all_columns = -1;
    // column_tap: the tap's column in the kernel, to leave out results that see padding there
    const auto add_tap = [&](const float* at, std::int64_t column_tap) __attribute__((always_inline)) {
      keep_apart(at);
      Lanes weight[std::size_t(vectors)];
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) weight[v] = Lanes::load_aligned(w + v * lanes);
#pragma GCC unroll 64
      for (std::int64_t p = 0; p < rows * columns; ++p)
        if (column_tap == all_columns || s.v.contains(s.v.at(p % columns, column_tap))) {
          const Lanes element(at[p / columns * s.h.stride * x_row + p % columns * s.v.stride]);
#pragma GCC unroll 64
          for (std::int64_t v = 0; v < vectors; ++v) sum[p][v] = math::fma(element, weight[v], sum[p][v]);
        }
      w += tile_results;
    };
    w += k_begin * s.v.kernel * tile_results;
    for (std::int64_t c = 0; c < channels; ++c, x += x_plane) {
      for (std::int64_t k = k_begin; k < k_end; ++k) {
        const float* row = x + k * s.h.dilation * x_row;
        if constexpr (in_place && !columns_inside)
#pragma GCC unroll 64
          for (std::int64_t l = 0; l < s.v.kernel; ++l) add_tap(row + l * s.v.dilation, l);
        else
          for (std::int64_t l = 0; l < s.v.kernel; ++l) add_tap(row + l * s.v.dilation, all_columns);
      }
      w += (s.h.kernel - (k_end - k_begin)) * s.v.kernel * tile_results;
    }
    if constexpr (puts_pixels) {
#pragma GCC unroll 64
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto row = pixels_at<s>(pixels.y, pixels.row + i);
#pragma GCC unroll 64
        for (std::int64_t j = 0; j < columns; ++j)
#pragma GCC unroll 64
          for (std::int64_t v = 0; v < vectors; ++v)
            if (all_vectors % vectors == 0 || pixels.channel + v * lanes < s.results)
              row.put(pixels.column + j, pixels.channel + v * lanes, sum[i * columns + j][v]);
      }
      return;
    }
#pragma GCC unroll 64
    for (std::int64_t p = 0; p < rows * columns; ++p)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < vectors; ++v) {
        float* at = sums + p / columns * sums_row + p % columns * tile_results + v * lanes;
        if constexpr (!long_sums) sum[p][v].store_aligned(at);
        else if (first) LongSums{sum[p][v]}.store(at, chunk.sums());
        else LongSums::add(sum[p][v], at, chunk.sums());
      }
  }
  /// Computes all tiles of `rows` x `columns` results, whose first row is `first_row`. x: what the first tile reads. pixels: the
  /// first tile's results.
  template <bool in_place, class Pixels>
  static void tiles(const float* x, const float* w, std::int64_t channels, bool first, std::int64_t first_row, std::int64_t rows,
                    std::int64_t columns, float* sums, const Pixels& pixels) {
    const auto along = [](std::int64_t extent, auto block, auto rest, auto&& f) {
      std::int64_t i = 0;
      for (; i + block <= extent; i += block) f(i, block);
      if constexpr (rest > 0)
        if (i < extent) f(i, rest);
    };
    using std::integral_constant;
    along(rows, integral_constant<std::int64_t, tile_rows>(), integral_constant<std::int64_t, s.h.out % tile_rows>(),
          [&](std::int64_t i, auto tile_i) {
            // rows of the kernel within the padding add nothing
            std::int64_t k_begin = 0, k_end = s.h.kernel;
            if constexpr (s.h_spacing == 1) {
              while (k_end > 1 && s.h.at(first_row + i, k_end - 1) >= s.h.in) --k_end;
              while (k_begin + 1 < k_end && s.h.at(first_row + i + tile_i - 1, k_begin) < 0) ++k_begin;
            }
            along(columns, integral_constant<std::int64_t, tile_columns>(),
                  integral_constant<std::int64_t, s.v.out % tile_columns>(), [&](std::int64_t j, auto tile_j) {
                    constexpr std::int64_t x_row = in_place ? s.v.in : pitch;
                    tile<in_place, tile_i, tile_j>(x + i * s.h.stride * x_row + j * s.v.stride, w, channels, k_begin, k_end,
                                                   first, sums + (i * columns + j) * tile_results, columns * tile_results,
                                                   pixels.at(i, j));
                  });
          });
  }
  /// Packs the weights of result channels from m on, for input channels from c on.
  template <class W>
  static void pack_weights(const W* w, std::int64_t m, std::int64_t c, std::int64_t channels, float* packed) {
    const std::int64_t block_size = channels * s.taps() * tile_results;
    constexpr bool one_run = s.w_v == 1 && s.w_h == s.v.kernel && s.w_c == s.taps();
    for (std::int64_t i = 0; i < chunk.results && m + i < s.results; i += lanes) {
      float* to = packed + i / tile_results * block_size + i % tile_results;
      const W* from = w + (m + i) * s.w_m + c * s.w_c;
      const auto pack = [&](auto rows) {
        if constexpr (one_run) {
          transpose_panel<rows>(from, s.w_m, channels * s.taps(), [&](std::int64_t at) { return to + at * tile_results; });
        } else if constexpr (s.w_v != -1 || s.w_h != -s.v.kernel) {  // the taps stand apart
          for (std::int64_t channel = 0; channel < channels; ++channel)
            for (std::int64_t t = 0; t < s.taps(); ++t) {
              float* tap = to + (channel * s.taps() + t) * tile_results;
              const W* element = from + channel * s.w_c + t / s.v.kernel * s.w_h + t % s.v.kernel * s.w_v;
              for (std::int64_t row = 0; row < lanes; ++row)
                tap[row] = row < rows ? static_cast<float>(element[row * s.w_m]) : 0.f;
            }
        } else {  // the taps stand together, turned around
          for (std::int64_t channel = 0; channel < channels; ++channel)
            in_blocks<s.taps(), lanes>([&](std::int64_t tap, auto taps) {
              // memory holds them from the last to the first
              float* last = to + (channel * s.taps() + tap + taps - 1) * tile_results;
              transpose_narrow_panel<rows, taps>(from + channel * s.w_c - tap - taps + 1, s.w_m,
                                                 [&](std::int64_t column) { return last - column * tile_results; });
            });
        }
      };
      if (s.results - m - i >= lanes) pack(std::integral_constant<std::int64_t, lanes>());
      else if constexpr (s.results % lanes != 0) pack(std::integral_constant<std::int64_t, s.results % lanes>());
    }
    // vectors of the last block beyond all channels
    if constexpr (all_vectors % vectors != 0)
      if (m + chunk.results > s.results) {
        float* last = packed + (all_vectors * lanes - m) / tile_results * block_size + all_vectors * lanes % tile_results;
        for (std::int64_t tap = 0; tap < channels * s.taps(); ++tap) std::fill_n(last + tap * tile_results, lanes, 0.f);
      }
  }
  /// Arrays of a convolution on the stack.
  struct Arrays {
    alignas(64) float weights[chunk.weights()];
    alignas(64) float input[chunk.channels * chunk.plane()];
    alignas(64) float sums[(long_sums ? 2 : 1) * chunk.sums()];
  };
  template <class X, class W, class Y>
  [[gnu::noinline]] static void run(const X* x, const W* w, Y y) {
    Arrays arrays;
    auto& [weights, input, sums] = arrays;
    for (std::int64_t m = 0; m < s.results; m += chunk.results) {
      const std::int64_t blocks = ((std::min)(chunk.results, s.results - m) + tile_results - 1) / tile_results;
      if constexpr (all_channels) pack_weights(w, m, 0, s.channels, weights);
      for (std::int64_t n = 0; n < s.images; ++n)
        for (std::int64_t i = 0; i < s.h.out; i += chunk.rows)
          for (std::int64_t j = 0; j < s.v.out; j += chunk.columns) {
            const std::int64_t rows = (std::min)(chunk.rows, s.h.out - i), columns = (std::min)(chunk.columns, s.v.out - j);
            const std::int64_t sums_block = rows * columns * tile_results;
            const Y results = results_at<s>(y, n, i * s.y_row() + j * s.y_v);
            for (std::int64_t c = 0; c < s.channels; c += chunk.channels) {
              const std::int64_t channels = (std::min)(chunk.channels, s.channels - c);
              if constexpr (!all_channels) pack_weights(w, m, c, channels, weights);
              const float* from = input;
              if constexpr (in_place<X>) from = x + n * s.x_n + c * s.x_c + s.h.at(i, 0) * s.v.in - s.v.begin;
              else
                for (std::int64_t channel = 0; channel < channels; ++channel)
                  for (std::int64_t row = 0; row < (rows - 1) * s.h.stride + s.h.span(); ++row) {
                    const X* plane = x + n * s.x_n + (c + channel) * s.x_c;
                    float* to = input + channel * chunk.plane() + row * pitch;
                    if constexpr (whole_rows) copy_whole_padded_row<s, pitch, -s.v.begin>(plane, s.h.at(i, 0) + row, to);
                    else copy_padded_row<s, pitch>(plane, s.h.at(i, 0) + row, s.v.at(j, 0), to);
                  }
              for (std::int64_t block = 0; block < blocks; ++block)
                tiles<in_place<X>>(from, weights + block * channels * s.taps() * tile_results, channels, c == 0, i, rows, columns,
                                   sums + block * sums_block, pixel_tile<puts_pixels>(results, m + block * tile_results));
            }
            if constexpr (puts_pixels) continue;
            if constexpr (long_sums) LongSums::finish(sums, blocks * sums_block, chunk.sums());
            for (std::int64_t block = 0; block < blocks; ++block) {
              const std::int64_t first = m + block * tile_results;
              const std::int64_t count = (std::min)(tile_results, s.results - first);
              if constexpr (s.y_channels_are_last()) {
                put_pixels<s, tile_results>(sums + block * sums_block, count, rows, columns, results, first);
              } else {
                store(sums + block * sums_block, count, rows, columns, results, first);
                if (j + columns == s.v.out)
                  for (std::int64_t each = first; each < first + count; ++each)
                    finish_rows(rows_at<s, 1>(results, each), i, rows);
              }
            }
          }
    }
  }

 private:
  /// Gives the results of a block of channels from `block` on to an epilogue.
  template <class E>
  static void store(const float* sums, std::int64_t results, std::int64_t rows, std::int64_t columns, PlaneEpilogue<E> y,
                    std::int64_t block) {
    const auto store_lanes = [&](auto count, std::int64_t first) {
      if constexpr (whole_rows)
        return put_transposed<count>(sums + first, tile_results, rows * columns, rows_at<s, count>(y, block + first));
      for (std::int64_t i = 0; i < rows; ++i)
        put_transposed<count>(sums + i * columns * tile_results + first, tile_results, columns,
                              rows_at<s, count>(results_at<s>(y, 0, i * s.v.out), block + first));
    };
    std::int64_t first = 0;
    for (; first + lanes <= results; first += lanes) store_lanes(std::integral_constant<std::int64_t, lanes>(), first);
    if constexpr (s.results % lanes != 0)
      if (first < results) store_lanes(std::integral_constant<std::int64_t, s.results % lanes>(), first);
  }
  /// Stores the results of a block of channels from `block` on to planes at y.
  template <class Y>
  static void store(const float* sums, std::int64_t results, std::int64_t rows, std::int64_t columns, Y* y, std::int64_t block) {
    y += block * s.y_m;
    if constexpr (s.y_v != 1 || s.y_row() != s.v.out) {
      for (std::int64_t channel = 0; channel < results; ++channel)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            y[channel * s.y_m + i * s.y_row() + j * s.y_v] = static_cast<Y>(sums[(i * columns + j) * tile_results + channel]);
      return;
    }
    const auto store_lanes = [&](auto count, std::int64_t first) {
      if constexpr (whole_rows) {
        transpose_back<count>(sums + first, tile_results, rows * columns, y + first * s.y_m, s.y_m);
      } else {
        for (std::int64_t i = 0; i < rows; ++i)
          transpose_back<count>(sums + i * columns * tile_results + first, tile_results, columns, y + first * s.y_m + i * s.v.out,
                                s.y_m);
      }
    };
    std::int64_t first = 0;
    for (; first + lanes <= results; first += lanes) store_lanes(std::integral_constant<std::int64_t, lanes>(), first);
    if constexpr (s.results % lanes != 0)
      if (first < results) store_lanes(std::integral_constant<std::int64_t, s.results % lanes>(), first);
  }
};

/// Whether there is a vector kernel for the shape.
template <ConvShape s>
inline constexpr bool has_conv_kernel = ConvByPixels<s>::fits || ConvByChannels<s>::fits;

/// Returns whether vectors run along results. By channels, a vector of results costs about lanes / 2 cycles more for its
/// transposition, and half empty vectors cost as much as full vectors. By pixels, each element costs a copy for each column of
/// the kernel. In ./dev bench kernels, sums of Conv/1x28x28 to 32 have 9 terms, those of Conv/32x14x14 to 64 have 288.
template <ConvShape s>
constexpr bool conv_goes_by_pixels() {
  constexpr bool few_terms = s.terms() <= 48, few_results = s.results <= lanes / 2;
  return ConvByPixels<s>::fits && (few_terms || few_results || !ConvByChannels<s>::fits);
}
template <ConvShape s>
using ConvForm = std::conditional_t<conv_goes_by_pixels<s>(), ConvByPixels<s>, ConvByChannels<s>>;

/// Computes y, the convolution of x with w, in the form that suits the shape. y: memory, or a PlaneEpilogue.
template <ConvShape s, class X, class W, class Y>
inline void conv_kernel(const X* x, const W* w, Y y) {
  ConvForm<s>::run(x, w, y);
}
/// Bytes of conv_kernel's arrays on the stack.
template <ConvShape s>
inline constexpr std::int64_t conv_stack_bytes = sizeof(typename ConvForm<s>::Arrays);

}  // namespace tilewright::kernel
