#pragma once
#include "tilewright/kernel/conv/conv.hpp"
#include "tilewright/kernel/conv/weights_by_results.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/kernel/vector/line.hpp"

namespace tilewright::kernel {

/// A register block of the gradient of weights: some result channels, and a rectangle of the kernel.
struct TapBlock {
  std::int64_t results, rows, columns;
  constexpr TapBlock(const ConvShape& s, std::int64_t most) {
    columns = even_block(s.v.kernel, most);
    rows = even_block(s.h.kernel, std::max<std::int64_t>(1, most / columns));
    const std::int64_t taps = rows * columns, room = (std::min)(s.results, std::max<std::int64_t>(1, most / taps));
    results = even_block(s.results, room);
    // a block that divides the channels, if it has sums enough to hide the time that an addition takes
    constexpr std::int64_t enough = 10;  // two additions a cycle, of 4 to 5 cycles each: ConvWeightsGrad of ./dev bench kernels
    for (std::int64_t even = room; even * taps >= enough; --even)
      if (s.results % even == 0) {
        results = even;
        break;
      }
  }
};

/// Calls f(m, k, l, results, rows, columns) for all register blocks of result channels and taps, sizes as constants.
template <ConvShape s, TapBlock block, class F>
inline void for_each_tap_block(F&& f) {
  in_blocks<s.results, block.results>([&](std::int64_t m, auto results) {
    in_blocks<s.h.kernel, block.rows>([&](std::int64_t k, auto rows) {
      in_blocks<s.v.kernel, block.columns>([&](std::int64_t l, auto columns) { f(m, k, l, results, rows, columns); });
    });
  });
}

/// Sums of the gradient of weights, vectors in memory, while the terms of one chunk of results are added. Sums of more than
/// terms_of_product terms start again with each chunk. Their rounding errors (LongSums) are in memory too, `rests` floats after
/// the sums.
template <bool long_sums, std::int64_t rests>
struct WeightSums {
  [[gnu::always_inline]] static Lanes start(const float* at) {
    if constexpr (long_sums) return Lanes(0.f);
    else return Lanes::load_aligned(at);
  }
  [[gnu::always_inline]] static void end(const Lanes& sum, float* at) {
    if constexpr (long_sums) LongSums::add(sum, at, rests);
    else sum.store_aligned(at);
  }
  /// Completes the first `count` floats.
  static void finish([[maybe_unused]] float* sums, [[maybe_unused]] std::int64_t count) {
    if constexpr (long_sums) LongSums::finish(sums, count, rests);
  }
  static constexpr std::int64_t floats = (long_sums ? 2 : 1) * rests;
};

/// Returns the convolution to the first `count` result channels.
constexpr ConvShape with_results(ConvShape shape, std::int64_t count) {
  shape.results = count;
  return shape;
}

/// Gradient with vectors along input channels: the input is copied with its padding as (row, column, channel), and its vectors
/// for all taps of a block are multiplied with single elements of dy.
template <ConvShape s>
struct ConvWeightsByChannels {
  static constexpr TapBlock block{s, most_accumulators - 1};
  /// Largest numbers of floats on the stack, which stay in the second-level cache. The plan of ConvWeightsGrad/32x14x14 to 64 of
  /// ./dev bench kernels depends on the numbers.
  static constexpr std::int64_t most_input = 32'768, most_sums = 28'672;
  /// Largest number of columns of results at once: with a kernel of 3 x 3, the input of one such row fits into most_input in
  /// vectors of 16 channels. Wider images are divided. No benchmark has such images.
  static constexpr std::int64_t most_columns = 512;
  static constexpr std::int64_t rows_of(std::int64_t out) { return (out - 1) * s.h.stride + s.h.span(); }
  static constexpr std::int64_t columns_of(std::int64_t out) { return (out - 1) * s.v.stride + s.v.span(); }
  static constexpr auto chunk = [] {
    struct {
      std::int64_t rows = s.h.out, columns = s.v.out;
    } c;
    while (c.columns > most_columns) c.columns = (c.columns + 1) / 2;
    while (c.rows > 1 && rows_of(c.rows) * columns_of(c.columns) * lanes > most_input) c.rows = (c.rows + 1) / 2;
    while (c.columns > 1 && rows_of(c.rows) * columns_of(c.columns) * lanes > most_input) c.columns = (c.columns + 1) / 2;
    return c;
  }();
  static constexpr std::int64_t pitch = columns_of(chunk.columns), input_size = rows_of(chunk.rows) * pitch * lanes;
  /// Number of result channels with sums on the stack at once.
  static constexpr std::int64_t most_results = std::max<std::int64_t>(1, most_sums / (s.taps() * lanes)) / block.results *
                                               block.results;
  static constexpr bool fits = input_size <= most_input && most_results > 0;
  using Sums = WeightSums<is_long_product(s.images* s.h.out* s.v.out), (std::min)(most_results, s.results) * s.taps() * lanes>;

  template <std::int64_t results, std::int64_t taps_h, std::int64_t taps_v, class DY>
  [[gnu::noinline]] static void tile(const float* x, const DY* dy, float* sums, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t taps = taps_h * taps_v;
    const auto sum_at = [sums](std::int64_t m, std::int64_t t) __attribute__((always_inline)) {
      return sums + (m * s.taps() + t / taps_v * s.v.kernel + t % taps_v) * lanes;
    };
    Lanes sum[std::size_t(results)][std::size_t(taps)];
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t t = 0; t < taps; ++t) sum[m][t] = Sums::start(sum_at(m, t));
    constexpr bool converts = !std::is_same_v<DY, float>;
    alignas(64) float converted[converts ? std::size_t(results * chunk.columns) : 1];  // counted by stack_bytes
    constexpr std::int64_t dy_m = converts ? chunk.columns : s.y_m;
    for (std::int64_t i = 0; i < rows; ++i) {
      const float *x_row = x + i * s.h.stride * pitch * lanes, *dy_row = converted;
      if constexpr (!converts) dy_row = dy + i * s.v.out;
      else
        for (std::int64_t m = 0; m < results; ++m) {
          const DY* from = dy + m * s.y_m + i * s.v.out;
          if constexpr (s.v.out % chunk.columns == 0) copy_floats<chunk.columns>(from, converted + m * dy_m);
          else copy_floats(from, columns, converted + m * dy_m);
        }
      for (std::int64_t j = 0; j < columns; ++j, x_row += s.v.stride * lanes, ++dy_row) {
        keep_apart(x_row);
        Lanes element[std::size_t(results)];
#pragma GCC unroll 64
        for (std::int64_t m = 0; m < results; ++m) element[m] = Lanes(dy_row[m * dy_m]);
#pragma GCC unroll 64
        for (std::int64_t t = 0; t < taps; ++t) {
          Lanes channels = Lanes::load_aligned(x_row + (t / taps_v * s.h.dilation * pitch + t % taps_v * s.v.dilation) * lanes);
          keep_in_register(channels);
#pragma GCC unroll 64
          for (std::int64_t m = 0; m < results; ++m) sum[m][t] = math::fma(element[m], channels, sum[m][t]);
        }
      }
    }
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t t = 0; t < taps; ++t) Sums::end(sum[m][t], sum_at(m, t));
  }
  /// Copies `channels` planes, from the padded row and column on, as rows and columns of channels.
  template <std::int64_t channels, class X>
  static void copy(const X* x, std::int64_t row, std::int64_t column, std::int64_t rows, float* to) {
    std::memset(to, 0, static_cast<std::size_t>(rows * pitch * lanes) * sizeof(float));
    const std::int64_t first = std::max<std::int64_t>(row, 0), last = (std::min)(row + rows, s.h.in);
    if constexpr (chunk.columns == s.v.out && s.v.begin >= 0 && -s.v.begin + pitch >= s.v.in) {
      to += ((first - row) * pitch + s.v.begin) * lanes;
      if (last > first)
        transpose_panel<channels>(x + first * s.v.in, s.x_c, (last - first) * s.v.in,
                                  [&](std::int64_t i) { return to + (i / s.v.in * pitch + i % s.v.in) * lanes; });
    } else {
      const std::int64_t low = std::max<std::int64_t>(column, 0), high = (std::min)(column + pitch, s.v.in);
      if (high > low)
        for (std::int64_t i = first; i < last; ++i)
          transpose_panel<channels>(x + i * s.v.in + low, s.x_c, high - low,
                                    [&](std::int64_t j) { return to + ((i - row) * pitch + low - column + j) * lanes; });
    }
  }
  template <class X, class DY, class DW>
  static void run(const X* x, const DY* dy, DW* dw) {
    in_blocks<s.channels, lanes>([&](std::int64_t c, auto channels) {
      in_blocks<s.results, (std::min)(most_results, s.results)>([&](std::int64_t m, auto results) {
        run_block<with_results(s, results), channels>(x + c * s.x_c, dy + m * s.y_m, dw + m * s.w_m + c * s.w_c);
      });
    });
  }
  /// Arrays of the gradient for a block of result channels on the stack.
  struct Arrays {
    alignas(64) float input[std::size_t(input_size)];
    alignas(64) float sums[std::size_t(Sums::floats)];
  };
  template <class DY>
  static constexpr std::int64_t stack_bytes() {
    constexpr auto arrays = static_cast<std::int64_t>(sizeof(Arrays));
    constexpr auto converted = block.results * chunk.columns * static_cast<std::int64_t>(sizeof(float)) + 64;
    return std::is_same_v<DY, float> ? arrays : arrays + converted;
  }
  /// Computes the gradient for `channels` input channels and the result channels of `part`.
  template <ConvShape part, std::int64_t channels, class X, class DY, class DW>
  [[gnu::noinline]] static void run_block(const X* x, const DY* dy, DW* dw) {
    Arrays arrays;
    auto& [input, sums] = arrays;
    std::memset(sums, 0, sizeof sums);
    for (std::int64_t n = 0; n < s.images; ++n)
      for (std::int64_t i = 0; i < s.h.out; i += chunk.rows)
        for (std::int64_t j = 0; j < s.v.out; j += chunk.columns) {
          const std::int64_t rows = (std::min)(chunk.rows, s.h.out - i), columns = (std::min)(chunk.columns, s.v.out - j);
          copy<channels>(x + n * s.x_n, s.h.at(i, 0), s.v.at(j, 0), rows_of(rows), input);
          for_each_tap_block<part, block>([&](std::int64_t m, std::int64_t k, std::int64_t l, auto results, auto h, auto v) {
            tile<results, h, v>(input + (k * s.h.dilation * pitch + l * s.v.dilation) * lanes,
                                dy + n * s.y_n + m * s.y_m + i * s.v.out + j, sums + (m * s.taps() + k * s.v.kernel + l) * lanes,
                                rows, columns);
          });
        }
    Sums::finish(sums, part.results * s.taps() * lanes);
    for (std::int64_t m = 0; m < part.results; ++m)
      transpose_back<channels>(sums + m * s.taps() * lanes, lanes, s.taps(), dw + m * s.w_m, s.w_c);
  }
};

/// Gradient with vectors along results, for few input channels: products of dy with the columns of ConvColumns.
template <ConvShape s>
struct ConvWeightsByPixels {
  using Columns = ConvColumns<s>;
  static constexpr TapBlock block{s, most_accumulators - 1};
  /// Largest number of floats on the stack, in addition to those of the columns. The plan of ConvWeightsGrad/1x28x28 to 32 of
  /// ./dev bench kernels depends on the number.
  static constexpr std::int64_t most_sums = 24'576;
  static constexpr std::int64_t sums_per_result = s.channels * s.taps() * lanes;
  /// Number of result channels with sums on the stack at once, each sum a vector.
  static constexpr std::int64_t most_results = most_sums / sums_per_result;
  static constexpr bool fits = Columns::fits && most_results >= std::min<std::int64_t>(s.results, 8);
  static constexpr std::int64_t block_results = fits ? (std::min)(even_block(s.results, most_results), s.results) : 1;
  using Sums = WeightSums<is_long_product(s.images* s.h.out* s.v.out / lanes), block_results * sums_per_result>;

  template <std::int64_t results, std::int64_t taps_h, std::int64_t taps_v, std::int64_t pixels, class DY>
  [[gnu::noinline]] static void tile(const float* columns, const DY* dy, float* sums) {
    constexpr std::int64_t taps = taps_h * taps_v;
    const auto sum_at = [sums](std::int64_t m, std::int64_t t) __attribute__((always_inline)) {
      return sums + m * sums_per_result + (t / taps_v * s.v.kernel + t % taps_v) * lanes;
    };
    Lanes sum[std::size_t(results)][std::size_t(taps)], element[std::size_t(results)];
    const auto add = [&](const float* from) __attribute__((always_inline)) {
#pragma GCC unroll 64
      for (std::int64_t t = 0; t < taps; ++t) {
        Lanes x = Lanes::load_unaligned(from + Columns::offset(0, t / taps_v, t % taps_v));
        keep_in_register(x);
#pragma GCC unroll 64
        for (std::int64_t m = 0; m < results; ++m) sum[m][t] = math::fma(element[m], x, sum[m][t]);
      }
    };
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t t = 0; t < taps; ++t) sum[m][t] = Sums::start(sum_at(m, t));
    for (std::int64_t q = 0; q + lanes <= pixels; q += lanes) {
#pragma GCC unroll 64
      for (std::int64_t m = 0; m < results; ++m) element[m] = load_floats<Lanes>(dy + m * s.y_m + q);
      add(columns + q);
    }
    if constexpr (constexpr std::int64_t rest = pixels % lanes; rest != 0) {  // the columns have room to read more
#pragma GCC unroll 64
      for (std::int64_t m = 0; m < results; ++m)
        element[m] = Line<const DY, 1>{dy + m * s.y_m}.template load<rest>(pixels - rest);
      add(columns + pixels - rest);
    }
#pragma GCC unroll 64
    for (std::int64_t m = 0; m < results; ++m)
#pragma GCC unroll 64
      for (std::int64_t t = 0; t < taps; ++t) Sums::end(sum[m][t], sum_at(m, t));
  }
  template <class X, class DY, class DW>
  static void run(const X* x, const DY* dy, DW* dw) {
    in_blocks<s.results, block_results>(
        [&](std::int64_t m, auto results) { run_block<with_results(s, results)>(x, dy + m * s.y_m, dw + m * s.w_m); });
  }
  /// Arrays of the gradient for a block of result channels on the stack.
  struct Arrays {
    alignas(64) float columns[Columns::size];
    alignas(64) float sums[std::size_t(Sums::floats)];
  };
  template <class>
  static constexpr std::int64_t stack_bytes() {
    return sizeof(Arrays);
  }
  template <ConvShape part, class X, class DY, class DW>
  [[gnu::noinline]] static void run_block(const X* x, const DY* dy, DW* dw) {
    Arrays arrays;
    auto& [columns, sums] = arrays;
    std::memset(sums, 0, sizeof sums);
    for (std::int64_t n = 0; n < s.images; ++n)
      in_blocks<s.h.out, Columns::rows>([&](std::int64_t i, auto rows) {
        Columns::copy(x + n * s.x_n, i, rows, columns);
        for (std::int64_t c = 0; c < s.channels; ++c)
          for_each_tap_block<part, block>([&](std::int64_t m, std::int64_t k, std::int64_t l, auto results, auto h, auto v) {
            tile<results, h, v, rows * s.v.out>(columns + Columns::offset(c, k, l), dy + n * s.y_n + m * s.y_m + i * s.v.out,
                                                sums + m * sums_per_result + (c * s.taps() + k * s.v.kernel + l) * lanes);
          });
      });
    Sums::finish(sums, part.results * sums_per_result);
    for (std::int64_t m = 0; m < part.results; ++m)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t tap = 0; tap < s.taps(); ++tap)
          dw[m * s.w_m + c * s.w_c + tap] = static_cast<DW>(
              math::sum(Lanes::load_aligned(sums + m * sums_per_result + (c * s.taps() + tap) * lanes)));
  }
};

/// Form of the gradient of weights that suits a shape, if it fits. By channels, half empty vectors cost as much as full vectors.
template <ConvShape s>
constexpr auto conv_weights_form() {
  if constexpr (s.x_channels_are_last() || s.y_channels_are_last()) return std::type_identity<ConvWeightsByResults<s>>();
  else if constexpr (ConvWeightsByPixels<s>::fits && (s.channels <= lanes / 4 || !ConvWeightsByChannels<s>::fits))
    return std::type_identity<ConvWeightsByPixels<s>>();
  else return std::type_identity<ConvWeightsByChannels<s>>();
}
template <ConvShape s>
using ConvWeightsForm = typename decltype(conv_weights_form<s>())::type;
/// Whether there is a vector kernel for the gradient of weights of the shape.
template <ConvShape s>
inline constexpr bool has_conv_weights_kernel = ConvWeightsForm<s>::fits;

/// Bytes of conv_weights_kernel's arrays on the stack.
template <ConvShape s, class DY>
inline constexpr std::int64_t conv_weights_stack_bytes = ConvWeightsForm<s>::template stack_bytes<DY>();

/// Computes dw[m, c, k, l] = sum over n, i, j of dy[n, m, i, j] x[n, c, h.at(i, k), v.at(j, l)], in the form that suits the
/// shape; y's strides are dy's. The taps of a kernel are contiguous in dw.
template <ConvShape s, class X, class DY, class DW>
inline void conv_weights_kernel(const X* x, const DY* dy, DW* dw) {
  ConvWeightsForm<s>::run(x, dy, dw);
}

}  // namespace tilewright::kernel
