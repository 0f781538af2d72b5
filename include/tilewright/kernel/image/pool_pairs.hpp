#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/image/window.hpp"
#include "tilewright/kernel/vector/line.hpp"

namespace tilewright::kernel {

/// Returns whether windows of 2 elements, 2 apart, divide an axis. The last element of an odd number is in no window.
constexpr bool is_in_pairs(const Window& w) {
  return w.kernel == 2 && w.stride == 2 && w.dilation == 1 && w.begin == 0 && w.out == w.in / 2;
}
/// Returns whether windows are 2 x 2, and divide the planes of the last two axes.
constexpr bool is_in_pairs(const Windows& windows) {
  return windows[0].kernel == 1 && windows[0].out == windows[0].in && is_in_pairs(windows[1]) && is_in_pairs(windows[2]);
}

/// Largest elements of windows of 2 x 2 in vectors, for planes of elements T: see is_in_pairs.
template <Windows windows, class T>
struct PoolPairs {
  using Row = Line<const T, 1>;
  using Batch = typename Row::Batch;
  static constexpr Window a = windows[0], b = windows[1], c = windows[2];
  static constexpr std::int64_t width = Row::width;

  static void maximum(const T* x, T* y) {
    for (std::int64_t i = 0; i < a.out; ++i)
      for (std::int64_t j = 0; j < b.out; ++j, y += c.out) {
        const Row upper{x + (i * b.in + 2 * j) * c.in}, lower{upper.data + c.in};
        for_each_batch<c.out, width>([&](std::int64_t o, auto count) {
          constexpr std::int64_t first = std::min(2 * count(), width), second = 2 * count() - first;
          Batch upper_pairs[2]{upper.template load<first>(2 * o)}, lower_pairs[2]{lower.template load<first>(2 * o)};
          if constexpr (second > 0) {
            upper_pairs[1] = upper.template load<second>(2 * o + width);
            lower_pairs[1] = lower.template load<second>(2 * o + width);
          } else {
            upper_pairs[1] = lower_pairs[1] = Batch(0);
          }
          const Batch sum = (upper_pairs[0] + lower_pairs[0]) + (upper_pairs[1] + lower_pairs[1]);
          Batch result = of_columns(math::max(upper_pairs[0], lower_pairs[0]), math::max(upper_pairs[1], lower_pairs[1]),
                                    [](const Batch& p, const Batch& q) { return math::max(p, q); });
          if (xsimd::any(is_nan(sum))) [[unlikely]]
            result = largest_or_nan(upper_pairs, lower_pairs);
          Line<T, 1>{y}.template store<count()>(o, result);
        });
      }
  }
  /// Calls give(index along the first axis, row, column, batch of the gradient or PartOfBatch) for all elements of the data.
  template <class F>
  static void maximum_gradient(const T* x, const T* dy, F&& give) {
    for (std::int64_t i = 0; i < a.out; ++i) {
      for (std::int64_t j = 0; j < b.out; ++j, dy += c.out) {
        const Row upper{x + (i * b.in + 2 * j) * c.in}, lower{upper.data + c.in};
        for_each_batch<c.in, width>([&](std::int64_t column, auto count) {
          Pairs rows{upper.template load<count()>(column), lower.template load<count()>(column)};
          const Batch sum = rows.upper + rows.lower;
          if (xsimd::any(is_nan(sum))) [[unlikely]]
            to_largest_or_nan(rows, twice<count() / 2>(dy + column / 2));
          else to_largest<false>(rows, twice<count() / 2>(dy + column / 2));
          give(i, 2 * j, column, part<count()>(rows.upper));
          give(i, 2 * j + 1, column, part<count()>(rows.lower));
        });
      }
      if constexpr (b.in % 2 != 0)
        for_each_batch<c.in, width>([&](std::int64_t column, auto count) { give(i, b.in - 1, column, part<count()>(Batch(0))); });
    }
  }

 private:
  using Vector = typename Batch::register_type;
  using Mask = typename Batch::batch_bool_type;
  static constexpr std::make_index_sequence<std::size_t(width)> all{};

  static Mask is_nan(const Batch& x) { return !(x == x); }  // x != x is false in some versions of xsimd

  /// Two rows of pairs.
  struct Pairs {
    Batch upper, lower;
  };

  template <std::int64_t count>
  static auto part(const Batch& batch) {
    if constexpr (count == width) return batch;
    else return PartOfBatch<count, Batch>{batch};
  }
  template <std::size_t first, std::size_t... i>
  [[gnu::always_inline]] static Batch every_second(const Vector& p, const Vector& q, std::index_sequence<i...>) {
    return Batch(__builtin_shufflevector(p, q, (2 * i + first)...));
  }
  /// Returns join(first, second) of the pairs in p, then in q.
  template <class Join>
  [[gnu::always_inline]] static Batch of_columns(const Batch& p, const Batch& q, Join join) {
    return join(every_second<0>(p, q, all), every_second<1>(p, q, all));
  }
  [[gnu::noinline]] static Batch largest_or_nan(const Batch (&upper)[2], const Batch (&lower)[2]) {
    const auto join = [](const Batch& p, const Batch& q) { return math::select((p > q) | is_nan(p), p, q); };
    return of_columns(join(upper[0], lower[0]), join(upper[1], lower[1]), join);
  }

  template <std::size_t... i>
  [[gnu::always_inline]] static Batch swapped(const Vector& x, std::index_sequence<i...>) {
    return Batch(__builtin_shufflevector(x, x, (i ^ 1)...));
  }
  template <std::size_t... i>
  [[gnu::always_inline]] static Batch doubled(const auto& x, std::index_sequence<i...>) {
    return Batch(__builtin_shufflevector(x, x, (i / 2)...));
  }
  /// Loads `count` elements, each of them for two lanes; the other lanes are 0.
  template <std::int64_t count>
  [[gnu::always_inline]] static Batch twice(const T* dy) {
    if constexpr (count == 0) {
      return Batch(0);
    } else if constexpr (Row::contiguous && 2 * count == width && width > 2) {
      typedef T Half __attribute__((vector_size(sizeof(Batch) / 2)));
      Half half;
      std::memcpy(&half, dy, sizeof half);
      return doubled(half, all);
    } else {
      return doubled(static_cast<Vector>(Row{dy}.template load<count>(0)), all);
    }
  }
  /// Whether a lane is the first of its pair.
  static Mask is_first() {
    alignas(Batch) static constexpr auto ones = [] {
      std::array<typename Batch::value_type, std::size_t(width)> result{};
      for (std::size_t i = 0; i < result.size(); i += 2) result[i] = 1;
      return result;
    }();
    return Batch::load_aligned(ones.data()) > Batch(0);
  }
  /// Replaces two rows by the gradients of their elements: dy for the first of the largest, otherwise 0. With `nan`, dy for the
  /// last NaN of a window if there is one.
  template <bool nan>
  [[gnu::always_inline]] static void to_largest(Pairs& rows, const Batch& dy) {
    const auto beats = [](const Batch& later, const Batch& earlier) {
      if constexpr (nan) return (later > earlier) | is_nan(later);
      else return later > earlier;
    };
    struct Columns {
      Mask wins;  // of the two columns
      Batch largest;
    };
    const auto columns = [&](const Batch& row) {
      const Batch other = swapped(row, all);
      const Mask wins = (is_first() & ~beats(other, row)) | (~is_first() & beats(row, other));
      if constexpr (nan) return Columns{wins, math::select(wins, row, other)};
      else return Columns{wins, math::max(row, other)};
    };
    const Columns upper = columns(rows.upper), lower = columns(rows.lower);
    const Mask is_lower = beats(lower.largest, upper.largest);
    rows = {math::select(~is_lower & upper.wins, dy, Batch(0)), math::select(is_lower & lower.wins, dy, Batch(0))};
  }
  [[gnu::noinline]] static void to_largest_or_nan(Pairs& rows, const Batch& dy) { to_largest<true>(rows, dy); }
};

}  // namespace tilewright::kernel
