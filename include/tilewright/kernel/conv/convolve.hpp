#pragma once
// The kernels of convolutions by their shapes and the form of their sums.
#include "tilewright/kernel/conv/data.hpp"
#include "tilewright/kernel/conv/loops.hpp"
#include "tilewright/kernel/conv/rounded_sums.hpp"
#include "tilewright/kernel/conv/weights.hpp"
#include "tilewright/kernel/conv/winograd.hpp"
#include "tilewright/kernel/conv/winograd_weights.hpp"
#include "tilewright/operand/conv_sums.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Shape of one group for the vector kernels, for views of at most two spatial axes; x, w and y are those of ConvLoops.
template <Windows windows, class X, class W, class Y>
inline constexpr ConvShape conv_shape = [] {
  const Window h = windows[1], v = windows[2];
  const bool x_is_last = is_channels_last(X::spec), y_is_last = is_channels_last(Y::spec);
  return ConvShape{.images = X::shape[0],
                   .channels = W::shape[1],
                   .results = W::shape[0] / (X::shape[1] / W::shape[1]),
                   .h = h,
                   .v = v,
                   .x_n = X::spec.stride(0),
                   .x_c = X::spec.stride(1),
                   .w_m = W::spec.stride(0),
                   .w_c = W::spec.stride(1),
                   .w_h = v.kernel,
                   .w_v = 1,
                   .y_n = Y::spec.stride(0),
                   .y_m = Y::spec.stride(1),
                   .y_h = y_is_last ? Y::spec.stride(2) : 0,
                   .y_v = y_is_last ? Y::spec.stride(3) : 1,
                   .x_v = x_is_last ? X::spec.stride(3) : 1};
}();
/// Whether the vector kernels support these views: dtypes that are computed in float32, and dense planes, or float32 with
/// channels as the last axis of memory.
template <class X, class W, class Y>
constexpr bool conv_planes = computes_in_float(X::spec.dtype) && computes_in_float(W::spec.dtype) &&
                             computes_in_float(Y::spec.dtype) && X::shape.rank <= 4;

/// Calls f with the addresses of each group's x, w and y.
template <ConvShape s, std::int64_t groups, class X, class W, class Y, class F>
inline void for_each_group(X* x, W* w, Y* y, F&& f) {
  for (std::int64_t group = 0; group < groups; ++group)
    f(x + group * s.channels * s.x_c, w + group * s.results * s.w_m, y + group * s.results * s.y_m);
}
template <class X, class W>
inline constexpr std::int64_t group_count = X::shape[1] / W::shape[1];

/// Whether the sums are in Winograd's form, by Kernel<s>.
template <ConvSums sums, ConvShape s, template <ConvShape> class Kernel>
constexpr bool has_winograd_form = [] {
  if constexpr (sums != ConvSums::winograd) return false;
  else return Kernel<s>::fits;
}();

/// Computes y, the convolution of x with w.
template <Windows windows, ConvSums sums, class X, class W, class Y>
inline void convolve(X x, W w, Y y) {
  if constexpr (sums == ConvSums::rounded) {
    return RoundedConv<windows, X, W, Y>::forward(x, w, y);
  } else if constexpr (conv_planes<X, W, Y>) {
    static constexpr ConvShape s = conv_shape<windows, X, W, Y>;
    if constexpr (has_winograd_form<sums, s, WinogradConv>) return WinogradConv<s>::run(x.data, w.data, y.data);
    else if constexpr (has_conv_kernel<s>)
      return for_each_group<s, group_count<X, W>>(
          x.data, w.data, y.data, [](auto* data, auto* weight, auto* result) { conv_kernel<s>(data, weight, result); });
  }
  ConvLoops<windows, X, W, Y>::forward(x, w, y);
}
/// Gives the convolution of x with w, float32 in one group, to an epilogue. Y is the result's view.
template <Windows windows, ConvSums sums, class Y, class X, class W, class Epilogue>
inline void convolve_with(const Epilogue& epilogue, X x, W w) {
  static constexpr ConvShape s = conv_shape<windows, X, W, Y>;
  using Elements = std::conditional_t<s.y_channels_are_last(), PixelEpilogue<Epilogue>, PlaneEpilogue<Epilogue>>;
  const Elements elements{epilogue};
  if constexpr (has_winograd_form<sums, s, WinogradConv>) WinogradConv<s>::run(x.data, w.data, elements);
  else if constexpr (has_conv_kernel<s>) conv_kernel<s>(x.data, w.data, elements);
  else
    ConvLoops<windows, X, W, Y>::for_each_result(
        x, w, [&](std::int64_t n, std::int64_t m, std::int64_t, std::int64_t row, std::int64_t column, auto sum) {
          const auto result = static_cast<float>(sum);
          if constexpr (s.y_channels_are_last()) {
            epilogue.matrix(n * s.h.out + row)(column, m, result);
          } else {
            epilogue.matrix(n * s.results + m)(0, row * s.v.out + column, result);
            if (row + 1 == s.h.out && column + 1 == s.v.out)
              finish_rows(rows_at<s, 1>(results_at<s>(elements, n, 0), m), 0, s.h.out);
          }
        });
}
template <Windows windows, ConvSums sums, class X, class W, class Y>
constexpr std::int64_t convolve_stack_bytes() {
  if constexpr (sums != ConvSums::rounded && conv_planes<X, W, Y>) {
    constexpr ConvShape s = conv_shape<windows, X, W, Y>;
    if constexpr (has_winograd_form<sums, s, WinogradConv>) return sizeof(typename WinogradConv<s>::Arrays);
    else if constexpr (has_conv_kernel<s>) return conv_stack_bytes<s>;
  }
  return 0;
}
/// Computes dx, the gradient of the data of a convolution.
template <Windows windows, ConvSums sums, class DY, class W, class DX>
inline void convolve_back(DY dy, W w, DX dx) {
  if constexpr (sums == ConvSums::rounded) {
    return RoundedConv<windows, DX, W, DY>::data_gradient(dy, w, dx);
  } else if constexpr (conv_planes<DX, W, DY>) {
    static constexpr ConvShape s = conv_shape<windows, DX, W, DY>;
    if constexpr (has_winograd_form<sums, s, WinogradDataForm>) return WinogradDataForm<s>::run(dy.data, w.data, dx.data);
    else if constexpr (has_conv_data_kernel<s>)
      return for_each_group<s, group_count<DX, W>>(
          dx.data, w.data, dy.data, [](auto* data, auto* weight, auto* y) { conv_data_kernel<s>(y, weight, data); });
  }
  ConvLoops<windows, DX, W, DY>::data_gradient(dy, w, dx);
}
template <Windows windows, ConvSums sums, class DY, class W, class DX>
constexpr std::int64_t convolve_back_stack_bytes() {
  if constexpr (sums != ConvSums::rounded && conv_planes<DX, W, DY>) {
    constexpr ConvShape s = conv_shape<windows, DX, W, DY>;
    if constexpr (has_winograd_form<sums, s, WinogradDataForm>) return WinogradDataForm<s>::stack_bytes();
    else if constexpr (has_conv_data_kernel<s>) return conv_data_stack_bytes<s>;
  }
  return 0;
}
/// Computes dw, the gradient of the weights of a convolution.
template <Windows windows, ConvSums sums, class X, class DY, class DW>
inline void convolve_weights(X x, DY dy, DW dw) {
  if constexpr (sums == ConvSums::rounded) {
    return RoundedConv<windows, X, DW, DY>::weights_gradient(x, dy, dw);
  } else if constexpr (conv_planes<X, DW, DY>) {
    static constexpr ConvShape s = conv_shape<windows, X, DW, DY>;
    if constexpr (has_winograd_form<sums, s, WinogradWeights>) return WinogradWeights<s>::run(x.data, dy.data, dw.data);
    else if constexpr (has_conv_weights_kernel<s>)
      return for_each_group<s, group_count<X, DW>>(
          x.data, dw.data, dy.data, [](auto* data, auto* gradient, auto* y) { conv_weights_kernel<s>(data, y, gradient); });
  }
  ConvLoops<windows, X, DW, DY>::weights_gradient(x, dy, dw);
}
template <Windows windows, ConvSums sums, class X, class DY, class DW>
constexpr std::int64_t convolve_weights_stack_bytes() {
  if constexpr (conv_planes<X, DW, DY> && sums != ConvSums::rounded) {
    constexpr ConvShape s = conv_shape<windows, X, DW, DY>;
    if constexpr (has_winograd_form<sums, s, WinogradWeights>) return sizeof(typename WinogradWeights<s>::Arrays);
    else if constexpr (has_conv_weights_kernel<s>) return conv_weights_stack_bytes<s, typename DY::element>;
  }
  return 0;
}

}  // namespace tilewright::kernel
