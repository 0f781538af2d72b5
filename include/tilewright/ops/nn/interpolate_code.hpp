#pragma once
#include "tilewright/kernel/image/resize.hpp"
#include "tilewright/ops/nn/interpolate.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class DX>
inline void ResizeAxisGrad::compute(DY dy, DX dx) {
  static constexpr auto attributes = unpack<Attributes>(A);
  kernel::resize_axis<attributes.resize(), static_cast<int>(attributes.axis), true>(dy, dx);
}

template <PackedAttributes A, class, class DX>
constexpr std::int64_t ResizeAxisGrad::stack_bytes() {
  return kernel::resize_stack_bytes<unpack<Attributes>(A).resize(), true, DX>;
}

template <PackedAttributes A, class X, class Y>
inline void ResizeAxis::compute(X x, Y y) {
  static constexpr auto attributes = unpack<Attributes>(A);
  kernel::resize_axis<attributes.resize(), static_cast<int>(attributes.axis), false>(x, y);
}

template <PackedAttributes A, class, class Y>
constexpr std::int64_t ResizeAxis::stack_bytes() {
  return kernel::resize_stack_bytes<unpack<Attributes>(A).resize(), false, Y>;
}

}  // namespace tilewright
