#pragma once
// What reductions compute, as rules of kernel/reduce/reduction.hpp.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/reduce/reduction.hpp"

namespace tilewright::kernel {

/// Base of rules without a context and without a final step.
struct ReductionRule {
  using First = void;
  template <class C, class ForEach>
  static C finish(C total, C, ForEach&&) {
    return total;
  }
};

/// The largest or smallest element; NaN if there is one.
template <bool largest>
struct ExtremeRule : ReductionRule {
  static constexpr bool adds_up = false;
  template <class T>
  using Compute = T;
  template <class T>
  static constexpr T start() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
    else return largest ? Limits::lowest() : (Limits::max)();
  }
  /// Returns whether x replaces a.
  template <class X>
  [[gnu::always_inline]] static auto beats(const X& x, const X& a) {
    if constexpr (largest) return (x > a) | is_nan(x);
    else return (x < a) | is_nan(x);
  }
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return merge(a, x);
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    if constexpr (std::is_floating_point_v<typename PackElement<X>::type>) return pick(beats(b, a), b, a);
    else if constexpr (largest) return b > a ? b : a;  // one instruction
    else return b < a ? b : a;
  }
};

struct ProductRule : ReductionRule {
  static constexpr bool adds_up = false;
  template <class T>
  using Compute = wrapping_t<T>;
  template <class T>
  static constexpr wrapping_t<T> start() {
    return 1;
  }
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return a * x;
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    return a * b;
  }
};

struct SumRule : ReductionRule {
  static constexpr bool adds_up = true;
  template <class T>
  using Compute = wrapping_t<T>;
  template <class T>
  static constexpr wrapping_t<T> start() {
    return 0;
  }
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return a + x;
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    return a + b;
  }
};
/// The sum of squares. A square is not rounded if the machine has a fused multiply-add.
struct SquareSumRule : SumRule {
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return a + x * x;
  }
};
/// The square root of the sum of squares. If squares or their sum leave the range, it is recomputed from elements divided by the
/// largest of them.
struct NormRule : SquareSumRule {
  template <class C, class ForEach>
  static C finish(C squares, C, ForEach&& for_each) {
    // Below the first, squares of elements that count may be no normal numbers; 0 is a norm of zeros in most cases.
    constexpr C least = (std::numeric_limits<C>::min)() / std::numeric_limits<C>::epsilon(),
                most = (std::numeric_limits<C>::max)();
    if (squares >= least && squares <= most) return std::sqrt(squares);
    double largest = 0, sum = 0;
    for_each([&](C x) {
      const double size = std::abs(static_cast<double>(x));
      largest = size > largest || size != size ? size : largest;
    });
    if (largest == 0 || !(largest <= (std::numeric_limits<double>::max)())) return static_cast<C>(largest);
    for_each([&](C x) {
      const double part = std::abs(static_cast<double>(x)) / largest;
      sum += part * part;
    });
    return static_cast<C>(largest * std::sqrt(sum));
  }
};
/// log(sum(exp(x))), computed from x less its largest element, the context.
struct LogSumExpRule : SumRule {
  using First = ExtremeRule<true>;
  template <class C>
  static C context(C largest) {
    return largest - largest == 0 || is_nan(largest) ? largest : C(0);
  }
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X& context) {
    if constexpr (std::is_arithmetic_v<X>) {
      return a + math::exp(x - context);
    } else {
      using Batch = simd::batch<typename PackElement<X>::type>;
      const X power = x - context;
      Batch batch;
      std::memcpy(&batch, &power, sizeof(power));
      batch = math::exp(batch);
      X result;
      std::memcpy(&result, &batch, sizeof(result));
      return a + result;
    }
  }
  template <class C, class ForEach>
  static C finish(C sum, C largest, ForEach&&) {
    return largest + math::log(sum);
  }
};

/// Computes the mean of integers, truncated towards 0. The sum of the integers has 64 bits.
template <std::uint64_t reduced, class In, class Out>
inline void assign_integer_mean(In in, Out out) {
  using Sum = std::conditional_t<std::is_signed_v<typename In::element>, std::int64_t, std::uint64_t>;
  static constexpr auto loops = reduction_loops<reduced, false, In, Out>();
  for_each_offset<2>(loops.kept, loops.kept_strides, [&](const auto& at) {
    std::uint64_t sum = 0;
    for_each_offset<2>(loops.reduced, loops.reduced_strides,
                       [&](const auto& row) { sum += static_cast<std::uint64_t>(in.data[at[0] + row[0]]); });
    out.data[at[1]] = static_cast<typename Out::element>(static_cast<Sum>(sum) / static_cast<Sum>(loops.reduced.nelms()));
  });
}

}  // namespace tilewright::kernel
