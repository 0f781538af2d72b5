#pragma once
#include "tilewright/kernel/conv/blocks.hpp"
#include "tilewright/ops/linear/conv_in_blocks.hpp"

namespace tilewright {

template <PackedAttributes A, class X, class W, class Y>
inline void ConvInBlocks::compute(X x, W w, Y y) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve_blocks<windows, ConvOp::template sums_of<A, X>>(x, w, y);
}
template <PackedAttributes A, class X, class W, class Y>
constexpr std::int64_t ConvInBlocks::stack_bytes() {
  return kernel::convolve_blocks_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, X>, X, W, Y>();
}

template <PackedAttributes A, class DY, class W, class DX>
inline void ConvDataGradInBlocks::compute(DY dy, W w, DX dx) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve_blocks_back<windows, ConvOp::template sums_of<A, DY>>(dy, w, dx);
}
template <PackedAttributes A, class DY, class W, class DX>
constexpr std::int64_t ConvDataGradInBlocks::stack_bytes() {
  return kernel::convolve_blocks_back_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, DY>, DY, W, DX>();
}

template <PackedAttributes A, class X, class DY, class DW>
inline void ConvWeightsGradInBlocks::compute(X x, DY dy, DW dw) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows();
  kernel::convolve_blocks_weights<windows, ConvOp::template sums_of<A, X>>(x, dy, dw);
}
template <PackedAttributes A, class X, class DY, class DW>
constexpr std::int64_t ConvWeightsGradInBlocks::stack_bytes() {
  return kernel::convolve_blocks_weights_stack_bytes<unpack<Attributes>(A).windows(), ConvOp::template sums_of<A, X>, X, DY,
                                                     DW>();
}

}  // namespace tilewright
