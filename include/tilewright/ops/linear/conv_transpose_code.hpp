#pragma once
#include "tilewright/kernel/conv/convolve.hpp"
#include "tilewright/ops/linear/conv_transpose.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class W, class DX>
inline void ConvTransposeDataGrad::compute(DY dy, W w, DX dx) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve<windows, ConvOp::template sums_of<A, DY>>(dy, w, dx);
}

template <PackedAttributes A, class DY, class W, class DX>
constexpr std::int64_t ConvTransposeDataGrad::stack_bytes() {
  return kernel::convolve_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, DY>, DY, W, DX>();
}

template <PackedAttributes A, class X, class W, class Y>
inline void ConvTranspose::compute(X x, W w, Y y) {
  // the attributes are those of the whole tensors: a vertex has their spatial axes, but not all of their channels
  static constexpr kernel::Windows windows = detail::transposed_windows(X::shape, W::shape, unpack<Attributes>(A));
  kernel::convolve_back<windows, ConvOp::template sums_of<A, X>>(x, w, y);
}

template <PackedAttributes A, class X, class W, class Y>
constexpr std::int64_t ConvTranspose::stack_bytes() {
  return kernel::convolve_back_stack_bytes<detail::transposed_windows(X::shape, W::shape, unpack<Attributes>(A)),
                                           ConvOp::template sums_of<A, X>, X, W, Y>();
}

}  // namespace tilewright
