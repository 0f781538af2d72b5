#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/pool_windows.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright::kernel {

template <Windows windows, class X, class Y>
struct PoolPixels;

/// Largest elements of windows of 2 x 2 in vectors, for planes of elements T: see is_in_pairs.
template <Windows windows, class T>
struct PoolPairs {
  using Row = Line<const T, 1>;
  using Batch = typename Row::Batch;
  using Number = typename Batch::value_type;
  static constexpr Window rows = windows[1], columns = windows[2];
  static constexpr std::int64_t width = Row::width;

  /// Computes the rows of results [first_row, last_row) of the plane x.
  static void maximum(const T* x, T* y, std::int64_t first_row = 0, std::int64_t last_row = rows.out) {
    x += 2 * first_row * columns.in, y += first_row * columns.out;
    for (std::int64_t row = first_row; row < last_row; ++row, x += 2 * columns.in, y += columns.out) {
      const Row upper{x}, lower{x + columns.in};
      for_each_batch<columns.out, width>([&](std::int64_t o, auto count) {
        constexpr std::int64_t first = (std::min)(2 * count(), width), second = 2 * count() - first;
        Pairs left{upper.template load<first>(2 * o), lower.template load<first>(2 * o)}, right{Batch(0), Batch(0)};
        if constexpr (second > 0)
          right = {upper.template load<second>(2 * o + width), lower.template load<second>(2 * o + width)};
        const Batch sum = left.sum() + right.sum();
        Batch result = largest<false>(left, right);
        if (simd::any(is_nan(sum))) [[unlikely]]
          result = largest_or_nan(left, right);
        Line<T, 1>{y}.template store<count()>(o, result);
      });
    }
  }
  /// Calls give(row, column, batch of the gradient or PartOfBatch) for all elements of the data.
  template <class F>
  static void maximum_gradient(const T* x, const T* dy, F&& give) {
    for (std::int64_t row = 0; row < 2 * rows.out; row += 2, x += 2 * columns.in, dy += columns.out)
      if constexpr (width == 1) gradient_of_row(x, dy, row, give);
      else
        for_each_batch<columns.in, width>([&](std::int64_t column, auto count) {
          const Pairs pairs{Row{x}.template load<count()>(column), Row{x + columns.in}.template load<count()>(column)};
          const Gradients dy_of = spread<count() / 2>(dy + column / 2);
          Pairs gradient = to_largest<false>(pairs, dy_of);
          if (simd::any(is_nan(pairs.sum()))) [[unlikely]]
            gradient = to_largest_or_nan(pairs, dy_of);
          give(row, column, part<count()>(gradient.upper));
          give(row + 1, column, part<count()>(gradient.lower));
        });
    if constexpr (rows.in % 2 != 0)
      for_each_batch<columns.in, width>(
          [&](std::int64_t column, auto count) { give(rows.in - 1, column, part<count()>(Batch(0))); });
  }

 private:
  template <Windows, class, class>
  friend struct PoolPixels;
  using Vector = typename Batch::register_type;
  using Mask = typename Batch::batch_bool_type;
  static constexpr std::make_index_sequence<std::size_t(width)> all{};

  /// Pairs of columns in two rows.
  struct Pairs {
    Batch upper, lower;
    Batch sum() const { return upper + lower; }  // NaN if one of them is NaN, or if they are infinities of both signs
  };
  /// Gradients of windows in the first and in the second lane of each pair; the other lanes are 0.
  struct Gradients {
    Batch first, second;
  };

  static Mask is_nan(const Batch& x) { return !(x == x); }  // x != x is false in some versions of xsimd
  /// Returns whether the second of two elements gets the gradient: it is larger, or with `nan`, it is NaN.
  template <bool nan>
  [[gnu::always_inline]] static Mask beats(const Batch& second, const Batch& first) {
    if constexpr (nan) return (second > first) | is_nan(second);
    else return second > first;
  }
  /// Returns the larger of two elements, and if they are equal, the second. With `nan`, NaN if one of them is NaN.
  template <bool nan>
  [[gnu::always_inline]] static Batch larger(const Batch& first, const Batch& second) {
    if constexpr (nan) return math::select((first > second) | is_nan(first), first, second);
    else return (math::max)(first, second);
  }
  template <std::int64_t count>
  [[gnu::always_inline]] static auto part(const Batch& batch) {
    if constexpr (count == width) return batch;
    else return PartOfBatch<count, Batch>{batch};
  }

  /// Returns the first or second elements of the pairs in p, then in q.
  template <std::size_t second, std::size_t... i>
  [[gnu::always_inline]] static Batch of_pairs(const Vector& p, const Vector& q, std::index_sequence<i...>) {
    return Batch(__builtin_shufflevector(p, q, (2 * i + second)...));
  }
  template <bool nan>
  [[gnu::always_inline]] static Batch largest(const Pairs& left, const Pairs& right) {
    const Batch p = larger<nan>(left.upper, left.lower), q = larger<nan>(right.upper, right.lower);
    return larger<nan>(of_pairs<0>(p, q, all), of_pairs<1>(p, q, all));
  }
  [[gnu::noinline]] static Batch largest_or_nan(const Pairs& left, const Pairs& right) { return largest<true>(left, right); }

  /// Returns the first or second element of each pair in both lanes of the pair.
  template <std::size_t second, std::size_t... i>
  [[gnu::always_inline]] static Batch in_both(const Vector& x, std::index_sequence<i...>) {
    return Batch(__builtin_shufflevector(x, x, (i / 2 * 2 + second)...));
  }
  template <std::size_t second, class V, std::size_t... i>
  [[gnu::always_inline]] static Batch spread_to(const V& x, std::index_sequence<i...>) {
    constexpr std::size_t zero = sizeof(V) / sizeof(x[0]);
    return Batch(__builtin_shufflevector(x, V{}, (i % 2 == second ? i / 2 : zero)...));
  }
  template <std::int64_t count>
  [[gnu::always_inline]] static Gradients spread(const T* dy) {
    if constexpr (count == 0) {
      return {Batch(0), Batch(0)};
    } else if constexpr (Row::contiguous && 2 * count == width && width > 2) {
      typedef T Half __attribute__((vector_size(sizeof(Batch) / 2)));
      Half half;
      std::memcpy(&half, dy, sizeof half);
      return {spread_to<0>(half, all), spread_to<1>(half, all)};
    } else {
      const Vector elements = Row{dy}.template load<count>(0);
      return {spread_to<0>(elements, all), spread_to<1>(elements, all)};
    }
  }
  /// The gradient of two rows where vectors have one element.
  template <class F>
  static void gradient_of_row(const T* x, const T* dy, std::int64_t row, F&& give) {
    for (std::int64_t o = 0; o < columns.out; ++o) {
      const std::int64_t at[4]{2 * o, 2 * o + 1, columns.in + 2 * o, columns.in + 2 * o + 1};
      std::int64_t largest = at[0];
      for (const std::int64_t next : at)
        if (x[next] > x[largest] || x[next] != x[next]) largest = next;
      for (const std::int64_t next : at)
        give(row + next / columns.in, next % columns.in, Batch(next == largest ? static_cast<Number>(dy[o]) : Number(0)));
    }
    if constexpr (columns.in % 2 != 0)
      for (const std::int64_t lower : {0, 1}) give(row + lower, columns.in - 1, Batch(0));
  }
  /// Returns the gradient of the first of the largest elements of each window; with `nan`, of its last NaN if there is one.
  template <bool nan>
  [[gnu::always_inline]] static Pairs to_largest(const Pairs& x, const Gradients& dy) {
    const Batch upper[2]{in_both<0>(x.upper, all), in_both<1>(x.upper, all)};
    const Batch lower[2]{in_both<0>(x.lower, all), in_both<1>(x.lower, all)};
    const Mask second_of_upper = beats<nan>(upper[1], upper[0]), second_of_lower = beats<nan>(lower[1], lower[0]);
    const Mask is_lower = beats<nan>(larger<nan>(lower[0], lower[1]), larger<nan>(upper[0], upper[1]));
    return {math::select(is_lower, Batch(0), math::select(second_of_upper, dy.second, dy.first)),
            math::select(is_lower, math::select(second_of_lower, dy.second, dy.first), Batch(0))};
  }
  [[gnu::noinline]] static Pairs to_largest_or_nan(const Pairs& x, const Gradients& dy) { return to_largest<true>(x, dy); }
};

}  // namespace tilewright::kernel
