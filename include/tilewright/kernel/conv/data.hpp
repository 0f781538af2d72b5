#pragma once
#include <numeric>

#include "tilewright/kernel/conv/conv.hpp"

namespace tilewright::kernel {

/// Returns the shape of the gradient of the data as a convolution of dy, spread by the stride, with the flipped weights: dx[n, c,
/// i] = sum over m, k of w[m, c, k] dy[n, m, (i + begin - k dilation) / stride].
constexpr ConvShape data_gradient_shape(const ConvShape& s) {
  const auto turned = [](const Window& w) {
    return Window{.in = (w.out - 1) * w.stride + 1,
                  .out = w.in,
                  .kernel = w.kernel,
                  .stride = 1,
                  .dilation = w.dilation,
                  .begin = w.span() - 1 - w.begin};
  };
  return {.images = s.images,
          .channels = s.results,
          .results = s.channels,
          .h = turned(s.h),
          .v = turned(s.v),
          .h_spacing = s.h.stride,
          .v_spacing = s.v.stride,
          .x_n = s.y_n,
          .x_c = s.y_m,
          .w_m = s.w_c,
          .w_c = s.w_m,
          .w_h = -s.w_h,
          .w_v = -s.w_v,
          .y_n = s.x_n,
          .y_m = s.x_c,
          .y_h = s.x_channels_are_last() ? s.v.in * s.x_v : 0,
          .y_v = s.x_v,
          .x_v = s.y_v};
}

/// The elements first, first + stride, ... of dx along an axis. They use every step-th tap of the kernel only, and dy without the
/// zeros: a convolution with those taps, from the last to the first.
struct ConvPhase {
  Window window;  ///< kernel 0: no tap
  std::int64_t last_tap = 0, step = 1;

  constexpr ConvPhase(const Window& w, std::int64_t first) {
    const std::int64_t common = std::gcd(w.stride, w.dilation);
    step = w.stride / common;
    std::int64_t tap = 0;  // the first that they see: element i sees result (i + begin - tap dilation) / stride
    while (tap < w.kernel && (first + w.begin - tap * w.dilation) % w.stride != 0) ++tap;
    const std::int64_t taps = tap < w.kernel ? (w.kernel - 1 - tap) / step + 1 : 0, dilation = w.dilation / common;
    last_tap = tap + (taps - 1) * step;
    window = {.in = w.out,
              .out = first < w.in ? (w.in - 1 - first) / w.stride + 1 : 0,
              .kernel = taps,
              .stride = 1,
              .dilation = dilation,
              .begin = (taps - 1) * dilation - (first + w.begin - tap * w.dilation) / w.stride};
  }
};

/// Gradient of the data for strides above 1, phase by phase, without products with the zeros between the elements of dy. s is the
/// shape of the convolution.
template <ConvShape s>
struct ConvDataPhases {
  /// Largest number of phases; each phase is separate code.
  static constexpr std::int64_t most_phases = 9;
  static constexpr std::int64_t phases = s.h.stride * s.v.stride;

  template <std::int64_t number>
  static constexpr ConvPhase h = ConvPhase(s.h, number / s.v.stride);
  template <std::int64_t number>
  static constexpr ConvPhase v = ConvPhase(s.v, number % s.v.stride);
  template <std::int64_t number>
  static constexpr bool is_empty = h<number>.window.out == 0 || v<number>.window.out == 0;
  template <std::int64_t number>
  static constexpr bool is_zero = h<number>.window.kernel == 0 || v<number>.window.kernel == 0;
  template <std::int64_t number>
  static constexpr ConvShape shape{.images = s.images,
                                   .channels = s.results,
                                   .results = s.channels,
                                   .h = h<number>.window,
                                   .v = v<number>.window,
                                   .x_n = s.y_n,
                                   .x_c = s.y_m,
                                   .w_m = s.w_c,
                                   .w_c = s.w_m,
                                   .w_h = -h<number>.step * s.w_h,
                                   .w_v = -v<number>.step * s.w_v,
                                   .y_n = s.x_n,
                                   .y_m = s.x_c,
                                   .y_h = s.h.stride * s.v.in,
                                   .y_v = s.v.stride};

  template <std::int64_t number>
  static constexpr bool fits_phase() {
    if constexpr (is_empty<number> || is_zero<number>) return true;
    else return has_conv_kernel<shape<number>>;
  }
  static constexpr bool fits = [] {
    if constexpr (phases == 1 || phases > most_phases) return false;
    else
      return []<std::size_t... number>(std::index_sequence<number...>) {
        return (fits_phase<static_cast<std::int64_t>(number)>() && ...);
      }(std::make_index_sequence<static_cast<std::size_t>(phases)>());
  }();

  template <class DY, class W, class DX>
  static void run(const DY* dy, const W* w, DX* dx) {
    unrolled<phases>([&](auto number) {
      constexpr std::int64_t phase = number;
      DX* to = dx + phase / s.v.stride * s.v.in + phase % s.v.stride;
      if constexpr (is_empty<phase>) return;
      else if constexpr (is_zero<phase>) fill_with_zeros<shape<phase>>(to);
      else conv_kernel<shape<phase>>(dy, w + h<phase>.last_tap * s.w_h + v<phase>.last_tap * s.w_v, to);
    });
  }
  /// Returns the bytes of arrays on the stack for the phase that needs most.
  static constexpr std::int64_t stack_bytes() {
    const auto of_phase = []<std::size_t number>(std::integral_constant<std::size_t, number>) {
      constexpr auto phase = static_cast<std::int64_t>(number);
      if constexpr (is_empty<phase> || is_zero<phase>) return std::int64_t{0};
      else return conv_stack_bytes<shape<phase>>;
    };
    return [&]<std::size_t... number>(std::index_sequence<number...>) {
      return (std::max)({of_phase(std::integral_constant<std::size_t, number>())...});
    }(std::make_index_sequence<static_cast<std::size_t>(phases)>());
  }

 private:
  template <ConvShape phase, class DX>
  static void fill_with_zeros(DX* y) {
    for (std::int64_t n = 0; n < phase.images; ++n)
      for (std::int64_t m = 0; m < phase.results; ++m)
        for (std::int64_t i = 0; i < phase.h.out; ++i)
          for (std::int64_t j = 0; j < phase.v.out; ++j)
            y[n * phase.y_n + m * phase.y_m + i * phase.y_row() + j * phase.y_v] = DX{};
  }
};

/// Whether there is a vector kernel for the gradient of data of a convolution of the shape.
template <ConvShape s>
inline constexpr bool has_conv_data_kernel = [] {
  if constexpr (s.x_channels_are_last() || s.y_channels_are_last()) return false;
  else return ConvDataPhases<s>::fits || has_conv_kernel<data_gradient_shape(s)>;
}();

/// Computes dx, the gradient of the data of the convolution s, from dy and the weights.
template <ConvShape s, class DY, class W, class DX>
inline void conv_data_kernel(const DY* dy, const W* w, DX* dx) {
  if constexpr (ConvDataPhases<s>::fits) {
    ConvDataPhases<s>::run(dy, w, dx);
  } else {
    static constexpr ConvShape turned = data_gradient_shape(s);
    conv_kernel<turned>(dy, w + turned.taps() - 1, dx);
  }
}

/// Bytes of conv_data_kernel's arrays on the stack.
template <ConvShape s>
inline constexpr std::int64_t conv_data_stack_bytes = [] {
  if constexpr (ConvDataPhases<s>::fits) return ConvDataPhases<s>::stack_bytes();
  else return conv_stack_bytes<data_gradient_shape(s)>;
}();

}  // namespace tilewright::kernel
