#pragma once
#include "tilewright/kernel/conv/convolve.hpp"
#include "tilewright/ops/linear/conv.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class W, class DX>
inline void ConvDataGrad::compute(DY dy, W w, DX dx) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve_back<windows, ConvOp::template sums_of<A, DY>>(dy, w, dx);
}

template <PackedAttributes A, class DY, class W, class DX>
constexpr std::int64_t ConvDataGrad::stack_bytes() {
  return kernel::convolve_back_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, DY>, DY, W, DX>();
}

template <PackedAttributes A, class X, class DY, class DW>
inline void ConvWeightsGrad::compute(X x, DY dy, DW dw) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve_weights<windows, ConvOp::template sums_of<A, X>>(x, dy, dw);
}

template <PackedAttributes A, class X, class DY, class DW>
constexpr std::int64_t ConvWeightsGrad::stack_bytes() {
  return kernel::convolve_weights_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, X>, X, DY, DW>();
}

template <PackedAttributes A, class X, class W, class Y>
inline void Conv::compute(X x, W w, Y y) {
  static constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  kernel::convolve<windows, ConvOp::template sums_of<A, X>>(x, w, y);
}

template <PackedAttributes A, class Y, class Epilogue, class X, class W>
inline void Conv::compute_with(const Epilogue& epilogue, X x, W w) {
  static constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  if constexpr (takes_epilogue(A)) kernel::convolve_with<windows, ConvOp::template sums_of<A, X>, Y>(epilogue, x, w);
}

template <PackedAttributes A, class X, class W, class Y>
constexpr std::int64_t Conv::stack_bytes() {
  constexpr kernel::Windows windows = detail::windows_of(X::shape, detail::kernel_of(W::shape), unpack<Attributes>(A));
  constexpr std::int64_t rows_and_square = 2048;  // of an epilogue: kernel/conv/planes.hpp
  return kernel::convolve_stack_bytes<windows, ConvOp::template sums_of<A, X>, X, W, Y>() +
         (takes_epilogue(A) ? rows_and_square : 0);
}

}  // namespace tilewright
