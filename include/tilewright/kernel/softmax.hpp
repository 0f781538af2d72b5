#pragma once
#include <type_traits>

#include "tilewright/kernel/line.hpp"

namespace tilewright {

/// Of a line x: exp(x) = exp(x - largest) exp(largest), and the sum of exp(x - largest).
template <class T>
struct ExponentialSum {
  T largest, sum;
};

/// No element of the line is far from the largest one's exponential, 1, so the sum neither overflows nor vanishes.
template <std::int64_t n, class X>
inline ExponentialSum<typename X::Compute> exponential_sum(X x) {
  const auto largest = line_max<n>(x);
  return {largest, line_sum<n>([&](const auto& a) { return math::exp(a - largest); }, x)};
}

/// y = exp(x) / sum(exp(x)) scale, computed from x less its largest element and rounded once to y's type. Lines of n elements.
template <std::int64_t n, class X, class Y>
inline ExponentialSum<typename X::Compute> softmax_line(X x, Y y, typename X::Compute scale = 1) {
  using T = typename X::Compute;
  const T largest = line_max<n>(x);
  const auto exponential = [&](const auto& a) { return math::exp(a - largest); };
  if constexpr (std::is_same_v<typename Y::Element, T>) {  // the exponentials wait in the result
    const T sum = line_assign_and_sum<n>(exponential, y, x);
    line_assign<n>([factor = scale / sum](const auto& a) { return a * factor; }, y, y);
    return {largest, sum};
  } else if constexpr (n <= 4096) {  // in a block on the stack
    alignas(detail::line_bytes) T block[static_cast<std::size_t>(n)];
    const T sum = line_assign_and_sum<n>(exponential, Line<T, 1>{block}, x);
    line_assign<n>([factor = scale / sum](const auto& a) { return a * factor; }, y, Line<const T, 1>{block});
    return {largest, sum};
  } else {
    const T sum = line_sum<n>(exponential, x);
    line_assign<n>([&, factor = scale / sum](const auto& a) { return exponential(a) * factor; }, y, x);
    return {largest, sum};
  }
}

}  // namespace tilewright
