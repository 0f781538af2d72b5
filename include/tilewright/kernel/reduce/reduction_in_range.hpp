#pragma once
// Reductions by way of numbers that may leave the range of floats where the result does not.
#include <cmath>

#include "tilewright/kernel/reduce/reduction.hpp"

namespace tilewright {

/// The square root of the sum of squares. Where squares or their sum leave the range, it is computed again from elements divided
/// by the largest of them.
template <std::uint64_t reduced, class In, class Out>
inline void assign_norm(In in, Out out) {
  using Kernel = Reduce<reduced, In, Out>;
  using T = typename In::element;
  using C = wide_t<T>;
  // Below the first, squares of elements that count may be no normal numbers; 0 is a norm of zeros in most cases.
  constexpr C least = std::numeric_limits<C>::min() / std::numeric_limits<C>::epsilon(), most = std::numeric_limits<C>::max();
  const auto scaled = [](const T* from) {
    const auto for_each = [&](auto&& f) {
      for_each_offset<2>(Kernel::loops.reduced, Kernel::loops.reduced_strides,
                         [&](const auto& at) { f(std::abs(static_cast<double>(from[at[0]]))); });
    };
    double largest = 0, sum = 0;
    for_each([&](double x) { largest = x > largest || x != x ? x : largest; });
    if (largest == 0 || !(largest <= std::numeric_limits<double>::max())) return static_cast<C>(largest);
    for_each([&](double x) { sum += x / largest * (x / largest); });
    return static_cast<C>(largest * std::sqrt(sum));
  };
  Kernel::template for_each_result<C>(
      in, out,
      [&](const T* from) {
        const C squares = Kernel::template line<SquareSumRule>(from, 0);
        return squares >= least && squares <= most ? std::sqrt(squares) : scaled(from);
      },
      [&](const T* from, auto count, C* results) {
        Kernel::template block<SquareSumRule, count()>(from, nullptr, results);
        for (std::int64_t i = 0; i < count; ++i)
          results[i] = results[i] >= least && results[i] <= most ? std::sqrt(results[i]) : scaled(from + i);
      });
}

/// log(sum(exp(x))), computed from x less its largest element.
template <std::uint64_t reduced, class In, class Out>
inline void assign_log_sum_exp(In in, Out out) {
  using Kernel = Reduce<reduced, In, Out>;
  using T = typename In::element;
  using C = wide_t<T>;
  const auto finite = [](C largest) { return largest - largest == 0 || is_nan(largest) ? largest : C(0); };
  Kernel::template for_each_result<C>(
      in, out,
      [&](const T* from) {
        const C largest = finite(Kernel::template line<ExtremeRule<true>>(from, 0));
        return largest + math::log(Kernel::template line<ExponentialSumRule>(from, largest));
      },
      [&](const T* from, auto count, C* results) {
        alignas(64) C largest[std::size_t(count())];
        Kernel::template block<ExtremeRule<true>, count()>(from, nullptr, largest);
        for (std::int64_t i = 0; i < count; ++i) largest[i] = finite(largest[i]);
        Kernel::template block<ExponentialSumRule, count()>(from, largest, results);
        for (std::int64_t i = 0; i < count; ++i) results[i] = largest[i] + math::log(results[i]);
      });
}

}  // namespace tilewright
