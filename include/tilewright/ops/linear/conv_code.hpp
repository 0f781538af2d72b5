#pragma once
#include "tilewright/ops/linear/conv.hpp"
#include "tilewright/ops/linear/convolve.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class W, class DX>
inline void ConvDataGrad::compute(DY dy, W w, DX dx) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  detail::convolve_back<windows, ConvOp::template sums_of<A, DY>>(dy, w, dx);
}

template <PackedAttributes A, class DY, class W, class DX>
constexpr std::int64_t ConvDataGrad::stack_bytes() {
  return detail::convolve_back_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, DY>, DY, W, DX>();
}

template <PackedAttributes A, class X, class DY, class DW>
inline void ConvWeightsGrad::compute(X x, DY dy, DW dw) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  constexpr detail::ConvSums sums = ConvOp::template sums_of<A, X>;
  if constexpr (sums == detail::ConvSums::rounded) {
    return kernel::RoundedConv<windows, X, DW, DY>::weights_gradient(x, dy, dw);
  } else if constexpr (detail::conv_planes<X, DW, DY>) {
    static constexpr kernel::ConvShape s = detail::conv_shape<windows, X, DW, DY>;
    if constexpr (detail::has_winograd_form<sums, s, kernel::WinogradWeights>)
      return kernel::WinogradWeights<s>::run(x.data, dy.data, dw.data);
    else if constexpr (kernel::has_conv_weights_kernel<s>)
      return detail::for_each_group<s, detail::group_count<X, DW>>(
          x.data, dw.data, dy.data,
          [](auto* data, auto* gradient, auto* y) { kernel::conv_weights_kernel<s>(data, y, gradient); });
  }
  kernel::ConvLoops<windows, X, DW, DY>::weights_gradient(x, dy, dw);
}

template <PackedAttributes A, class X, class DY, class DW>
constexpr std::int64_t ConvWeightsGrad::stack_bytes() {
  constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  constexpr detail::ConvSums sums = ConvOp::template sums_of<A, X>;
  if constexpr (detail::conv_planes<X, DW, DY> && sums != detail::ConvSums::rounded) {
    constexpr kernel::ConvShape s = detail::conv_shape<windows, X, DW, DY>;
    if constexpr (detail::has_winograd_form<sums, s, kernel::WinogradWeights>)
      return sizeof(typename kernel::WinogradWeights<s>::Arrays);
    else if constexpr (kernel::has_conv_weights_kernel<s>) return kernel::conv_weights_stack_bytes<s, typename DY::element>;
  }
  return 0;
}

template <PackedAttributes A, class X, class W, class Y>
inline void Conv::compute(X x, W w, Y y) {
  static constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  detail::convolve<windows, ConvOp::template sums_of<A, X>>(x, w, y);
}

template <PackedAttributes A, class Y, class Epilogue, class X, class W>
inline void Conv::compute_with(const Epilogue& epilogue, X x, W w) {
  static constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  if constexpr (takes_epilogue(A)) detail::convolve_with<windows, ConvOp::template sums_of<A, X>, Y>(epilogue, x, w);
}

template <PackedAttributes A, class X, class W, class Y>
constexpr std::int64_t Conv::stack_bytes() {
  constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  constexpr std::int64_t rows_and_square = 2048;  // of an epilogue: kernel/conv/planes.hpp
  return detail::convolve_stack_bytes<windows, ConvOp::template sums_of<A, X>, X, W, Y>() +
         (takes_epilogue(A) ? rows_and_square : 0);
}

}  // namespace tilewright
