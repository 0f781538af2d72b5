#pragma once
#include <type_traits>

#include "tilewright/kernel/vector/line.hpp"

namespace tilewright::kernel {

/// Factors of exponentials of a line x: exp(x) = exp(x - largest) exp(largest), and the sum of exp(x - largest).
template <class T>
struct ExponentialSum {
  T largest, sum;
};

/// Largest number of elements of a line in a block on the stack: exponentials of half precision, before they are rounded.
inline constexpr std::int64_t softmax_block = 4096;
/// Bytes of the block of a line of n elements of T.
template <std::int64_t n, class T>
inline constexpr std::int64_t softmax_stack_bytes = std::is_same_v<compute_t<T>, T> || n > softmax_block
                                                        ? 0
                                                        : n* static_cast<std::int64_t>(sizeof(compute_t<T>)) + 64;

/// Returns the sum of exponentials of a line. The largest element's exponential is 1, so the sum neither overflows nor vanishes.
template <std::int64_t n, class X>
inline ExponentialSum<typename X::Compute> exponential_sum(X x) {
  const auto largest = line_max<n>(x);
  return {largest, line_sum<n>([&](const auto& a) { return math::exp(a - largest); }, x)};
}

/// Computes y = exp(x) / sum(exp(x)) scale from x less its largest element, rounded once to y's type, for lines of n elements.
template <std::int64_t n, class X, class Y>
inline ExponentialSum<typename X::Compute> softmax_line(X x, Y y, typename X::Compute scale = 1) {
  using T = typename X::Compute;
  const T largest = line_max<n>(x);
  const auto exponential = [&](const auto& a) { return math::exp(a - largest); };
  if constexpr (std::is_same_v<typename Y::Element, T>) {  // the exponentials wait in the result
    const T sum = line_assign_and_sum<n>(exponential, y, x);
    line_assign<n>([factor = scale / sum](const auto& a) { return a * factor; }, y, y);
    return {largest, sum};
  } else if constexpr (n <= softmax_block) {  // in a block on the stack
    alignas(line_bytes) T block[static_cast<std::size_t>(n)];
    const T sum = line_assign_and_sum<n>(exponential, Line<T, 1>{block}, x);
    line_assign<n>([factor = scale / sum](const auto& a) { return a * factor; }, y, Line<const T, 1>{block});
    return {largest, sum};
  } else {
    const T sum = line_sum<n>(exponential, x);
    line_assign<n>([&, factor = scale / sum](const auto& a) { return exponential(a) * factor; }, y, x);
    return {largest, sum};
  }
}

/// Computes dx = y (dy - sum(y dy)) for y = softmax(x), which is not rounded, for lines of n elements. dx may share the memory of
/// x or dy.
template <std::int64_t n, class X, class DY, class DX>
inline void softmax_gradient_line(X x, DY dy, DX dx) {
  using T = typename X::Compute;
  const auto product = [](const auto& a, const auto& b) { return a * b; };
  if constexpr (n <= softmax_block) {  // y in a block on the stack
    alignas(line_bytes) T block[static_cast<std::size_t>(n)];
    softmax_line<n>(x, Line<T, 1>{block});
    const Line<const T, 1> y{block};
    const T dot = line_sum<n>(product, y, dy);
    line_assign<n>([&](const auto& a, const auto& b) { return a * (b - dot); }, dx, y, dy);
  } else {
    const auto sums = exponential_sum<n>(x);
    const auto y = [least = sums.largest, factor = 1 / sums.sum](const auto& a) { return math::exp(a - least) * factor; };
    const T dot = line_sum<n>([&](const auto& a, const auto& b) { return y(a) * b; }, x, dy);
    line_assign<n>([&](const auto& a, const auto& b) { return y(a) * (b - dot); }, dx, x, dy);
  }
}

}  // namespace tilewright::kernel
