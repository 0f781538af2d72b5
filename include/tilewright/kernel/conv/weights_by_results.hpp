#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/conv/rows.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"

namespace tilewright::kernel {

/// Gradient of the weights with vectors along result channels, which are the last axis of dy, for few input channels and no
/// padding: single elements of x, for all taps, are multiplied with a vector of dy.
template <ConvShape s>
struct ConvWeightsByResults {
  static constexpr std::int64_t taps = s.taps(), most_channels = 4;
  /// Vectors of result channels of a register block.
  static constexpr std::int64_t vectors = even_block(s.results / lanes, std::max<std::int64_t>(1, most_accumulators / taps));
  static constexpr bool fits = [] {
    const auto is_inside = [](const Window& w) { return w.first_inner() == 0 && w.last_inner() == w.out; };
    return s.y_channels_are_last() && s.x_v == 1 && s.h_spacing == 1 && s.v_spacing == 1 && s.results % lanes == 0 &&
           taps <= most_accumulators && s.channels <= most_channels && is_inside(s.h) && is_inside(s.v);
  }();
  /// Rows of results whose terms one accumulator adds. Such parts are added with their rounding errors.
  static constexpr std::int64_t rows = std::clamp<std::int64_t>(terms_of_accumulator / std::max<std::int64_t>(1, s.v.out), 1,
                                                                s.h.out);
  static constexpr std::int64_t sums_size = s.results * s.channels * taps;
  /// Arrays of the gradient on the stack: the sums as (vector, input channel, tap), then their rounding errors.
  struct Arrays {
    alignas(64) float sums[2 * sums_size];
  };
  template <class>
  static constexpr std::int64_t stack_bytes() {
    return sizeof(Arrays);
  }

  template <std::int64_t count, std::int64_t row_count>
  static void add_rows(const float* x, const float* dy, float* sums) {
    Lanes sum[std::size_t(taps)][std::size_t(count)];
#pragma GCC unroll 64
    for (std::int64_t t = 0; t < taps; ++t)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < count; ++v) sum[t][v] = Lanes(0.f);
    for (std::int64_t i = 0; i < row_count; ++i) {
      const float *element = x + i * s.h.stride * s.v.in, *gradient = dy + i * s.y_row();
      for (std::int64_t j = 0; j < s.v.out; ++j, element += s.v.stride, gradient += s.y_v) {
        keep_apart(element);
        Lanes channels[std::size_t(count)];
#pragma GCC unroll 64
        for (std::int64_t v = 0; v < count; ++v) {
          channels[v] = Lanes::load_unaligned(gradient + v * lanes);
          keep_in_register(channels[v]);
        }
#pragma GCC unroll 64
        for (std::int64_t t = 0; t < taps; ++t) {
          const Lanes factor(element[t / s.v.kernel * s.h.dilation * s.v.in + t % s.v.kernel * s.v.dilation]);
#pragma GCC unroll 64
          for (std::int64_t v = 0; v < count; ++v) sum[t][v] = math::fma(factor, channels[v], sum[t][v]);
        }
      }
    }
#pragma GCC unroll 64
    for (std::int64_t t = 0; t < taps; ++t)
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < count; ++v) LongSums::add(sum[t][v], sums + (v * s.channels * taps + t) * lanes, sums_size);
  }
  template <class DW>
  [[gnu::noinline]] static void run(const float* x, const float* dy, DW* dw) {
    Arrays arrays;
    std::memset(arrays.sums, 0, sizeof arrays.sums);
    for (std::int64_t n = 0; n < s.images; ++n)
      in_blocks<s.h.out, rows>([&](std::int64_t i, auto row_count) {
        in_blocks<s.results / lanes, vectors>([&](std::int64_t v, auto count) {
          for (std::int64_t c = 0; c < s.channels; ++c)
            add_rows<count, row_count>(x + n * s.x_n + c * s.x_c + s.h.at(i, 0) * s.v.in - s.v.begin,
                                       dy + n * s.y_n + i * s.y_row() + v * lanes,
                                       arrays.sums + (v * s.channels + c) * taps * lanes);
        });
      });
    LongSums::finish(arrays.sums, sums_size, sums_size);
    for (std::int64_t v = 0; v < s.results / lanes; ++v)
      for (std::int64_t c = 0; c < s.channels; ++c)
        transpose_back<lanes>(arrays.sums + (v * s.channels + c) * taps * lanes, lanes, taps, dw + v * lanes * s.w_m + c * s.w_c,
                              s.w_m);
  }
};

}  // namespace tilewright::kernel
