#pragma once
#include "tilewright/kernel/softmax.hpp"
#include "tilewright/ops/nn/softmax.hpp"

namespace tilewright {

template <PackedAttributes A, class Y, class DY, class DX>
inline void SoftmaxGrad::compute(Y y, DY dy, DX dx) {
  constexpr auto axis = static_cast<int>(unpack<Attributes>(A).axis);
  constexpr auto n = Y::shape[axis];
  for_each_line<axis, Y, DY, DX>([&](const auto& at) {
    const auto y_line = kernel::line_at<axis>(y, at[0]);
    const auto dy_line = kernel::line_at<axis>(dy, at[1]);
    const auto dot = kernel::line_sum<n>([](const auto& a, const auto& b) { return a * b; }, y_line, dy_line);
    kernel::line_assign<n>([&](const auto& a, const auto& b) { return a * (b - dot); }, kernel::line_at<axis>(dx, at[2]), y_line,
                           dy_line);
  });
}

template <PackedAttributes A, class X, class... V>
constexpr std::int64_t SoftmaxGradOfHalf::stack_bytes() {
  return kernel::softmax_stack_bytes<X::shape[static_cast<int>(unpack<Attributes>(A).axis)], typename X::element>;
}

template <PackedAttributes A, class X, class DY, class DX>
inline void SoftmaxGradOfHalf::compute(X x, DY dy, DX dx) {
  constexpr auto axis = static_cast<int>(unpack<Attributes>(A).axis);
  for_each_line<axis, X, DY, DX>([&](const auto& at) {
    kernel::softmax_gradient_line<X::shape[axis]>(kernel::line_at<axis>(x, at[0]), kernel::line_at<axis>(dy, at[1]),
                                                  kernel::line_at<axis>(dx, at[2]));
  });
}

template <PackedAttributes A, class X, class... V>
constexpr std::int64_t Softmax::stack_bytes() {
  return kernel::softmax_stack_bytes<X::shape[static_cast<int>(unpack<Attributes>(A).axis)], typename X::element>;
}

template <PackedAttributes A, class X, class Y>
inline void Softmax::compute(X x, Y y) {
  constexpr auto axis = static_cast<int>(unpack<Attributes>(A).axis);
  for_each_line<axis, X, Y>([&](const auto& at) {
    kernel::softmax_line<X::shape[axis]>(kernel::line_at<axis>(x, at[0]), kernel::line_at<axis>(y, at[1]));
  });
}

}  // namespace tilewright
