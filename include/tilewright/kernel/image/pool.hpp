#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "tilewright/kernel/image/pool_pairs.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright::kernel {

/// The results [first, last) whose windows have tap k inside the elements.
struct TapRange {
  std::int64_t first, last;
  constexpr TapRange(const Window& w, std::int64_t k) : first(0), last(w.out) {
    while (first < last && w.at(first, k) < 0) ++first;
    while (last > first && w.at(last - 1, k) >= w.in) --last;
  }
};
/// Number of elements in the window of each result.
template <Window w>
inline constexpr auto window_counts = [] {
  std::array<float, static_cast<std::size_t>(w.out)> counts{};
  for (std::int64_t o = 0; o < w.out; ++o)
    for (std::int64_t k = 0; k < w.kernel; ++k) counts[static_cast<std::size_t>(o)] += w.contains(w.at(o, k)) ? 1.f : 0.f;
  return counts;
}();

/// Calls f(row) for each row of a dense block of planes that results (i, j) of the first two axes see.
template <Windows windows, class F>
inline void for_each_seen_row(std::int64_t i, std::int64_t j, F&& f) {
  constexpr Window a = windows[0], b = windows[1];
  for (std::int64_t k = 0; k < a.kernel; ++k)
    for (std::int64_t l = 0; l < b.kernel; ++l)
      if (a.contains(a.at(i, k)) && b.contains(b.at(j, l))) f(a.at(i, k) * b.in + b.at(j, l));
}

/// Returns whether one of the elements is NaN, in a form that compilers vectorise: the bits of NaN are above those of infinity.
template <std::int64_t count, class T>
inline bool has_nan(const T* elements) {
  using Bits =
      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr int mantissa = sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
  constexpr Bits magnitude = (std::numeric_limits<Bits>::max)() / 2, infinity = magnitude >> mantissa << mantissa;
  Bits largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Bits bits = std::bit_cast<Bits>(elements[i]) & magnitude;
    largest = bits > largest ? bits : largest;
  }
  return largest > infinity;
}

/// Calls f(k) for the taps of a window, unrolled.
template <std::int64_t taps, class F>
[[gnu::always_inline]] inline void for_each_tap(F&& f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
    (f(std::integral_constant<std::int64_t, static_cast<std::int64_t>(k)>()), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(taps)>());
}

/// Pooling of a plane, that is the dense block of one image's channel, of elements T: rows are combined first, then columns.
template <Windows windows, class T>
struct Pool {
  using Sum = compute_t<T>;
  static constexpr Window a = windows[0], b = windows[1], c = windows[2];
  static constexpr bool in_pairs = is_in_pairs(windows) && PoolPairs<windows, T>::width > 1;  // pairs of elements
  /// Bytes of the functions' arrays on the stack: a row of elements, and for `average` and most shapes of `maximum` one of
  /// results.
  static constexpr std::int64_t average_gradient_stack_bytes = c.in * static_cast<std::int64_t>(sizeof(Sum));
  static constexpr std::int64_t average_stack_bytes = (c.in + c.out) * static_cast<std::int64_t>(sizeof(Sum));
  static constexpr std::int64_t maximum_stack_bytes = in_pairs ? 0 : average_stack_bytes;

  static void maximum(const T* x, T* y) {
    if constexpr (in_pairs)
      for (std::int64_t i = 0; i < a.out; ++i) PoolPairs<windows, T>::maximum(x + i * b.in * c.in, y + i * b.out * c.out);
    else if (has_nan<windows.in()>(x)) [[unlikely]] reduce_to_largest_or_nan(x, y);
    else reduce(x, y, least, larger, as_it_is);
  }
  static void average(const T* x, T* y) { average_rows(x, y, 0, b.out); }
  /// Computes the rows of results [first, last) of a plane of two axes, whose windows do not share rows.
  static void maximum_rows(const T* x, T* y, std::int64_t first, std::int64_t last) {
    if constexpr (in_pairs) PoolPairs<windows, T>::maximum(x, y, first, last);
    else
      for (std::int64_t j = first; j < last; ++j)
        if (has_nan<b.kernel * c.in>(x + b.at(j, 0) * c.in)) [[unlikely]]
          reduce_to_largest_or_nan(x, y, j, j + 1);
        else reduce(x, y, least, larger, as_it_is, j, j + 1);
  }
  static void average_rows(const T* x, T* y, std::int64_t first, std::int64_t last) {
    reduce(
        x, y, Sum{}, [](Sum p, Sum q) { return p + q; },
        [](Sum value, std::int64_t o, Sum rows) {
          return value / (rows * static_cast<Sum>(window_counts<c>[static_cast<std::size_t>(o)]));
        },
        first, last);
  }
  /// Computes the gradient. In each window, it goes to the first of the largest elements, or to the last NaN if there is one, as
  /// in PyTorch. D is T, or float32 if several windows contribute to an element.
  template <class D>
  static void maximum_gradient(const T* x, const T* dy, D* dx) {
    if constexpr (std::is_same_v<D, T> && in_pairs) {
      for (std::int64_t i = 0; i < a.out; ++i, x += b.in * c.in, dx += b.in * c.in, dy += b.out * c.out)
        PoolPairs<windows, T>::maximum_gradient(x, dy, [dx](std::int64_t row, std::int64_t column, const auto& gradient) {
          store_batch(Line<T, 1>{dx + row * c.in}, column, gradient);
        });
    } else if constexpr (std::is_same_v<D, T> && a.kernel == 1 && a.out == a.in && b.tiles() && c.tiles()) {
      if constexpr (b.kernel != b.stride || c.kernel != c.stride || b.out * b.stride != b.in || c.out * c.stride != c.in)
        std::fill_n(dx, windows.in(), D{});
      const bool is_special = has_nan<windows.in()>(x);
      for (std::int64_t i = 0; i < a.out; ++i)
        for (std::int64_t j = 0; j < b.out; ++j, dy += c.out) {
          const std::int64_t row = (i * b.in + j * b.stride) * c.in;
          to_largest(x + row, dy, dx + row);
          if (is_special) to_nan(x + row, dy, dx + row);
        }
    } else {
      std::fill_n(dx, windows.in(), D{});
      for (std::int64_t i = 0; i < a.out; ++i)
        for (std::int64_t j = 0; j < b.out; ++j)
          for (std::int64_t o = 0; o < c.out; ++o, ++dy) {
            std::int64_t largest = -1;
            for_each_seen_row<windows>(i, j, [&](std::int64_t row) {
              for (std::int64_t k = 0; k < c.kernel; ++k)
                if (const auto at = row * c.in + c.at(o, k);
                    c.contains(c.at(o, k)) &&
                    (largest < 0 || static_cast<Sum>(x[at]) > static_cast<Sum>(x[largest]) || x[at] != x[at]))
                  largest = at;
            });
            dx[largest] = static_cast<D>(static_cast<Sum>(dx[largest]) + static_cast<Sum>(*dy));
          }
    }
  }
  template <class D>
  static void average_gradient(const T* dy, D* dx) {
    std::fill_n(dx, windows.in(), D{});
    for (std::int64_t i = 0; i < a.out; ++i)
      for (std::int64_t j = 0; j < b.out; ++j, dy += c.out) {
        const Sum rows = seen_rows(i, j);
        Sum part[std::size_t(c.in)]{};
        for_each_tap<c.kernel>([&](auto k) {
          constexpr TapRange range(c, k);
          for (std::int64_t o = range.first; o < range.last; ++o)
            part[c.at(o, k)] += static_cast<Sum>(dy[o]) /
                                (rows * static_cast<Sum>(window_counts<c>[static_cast<std::size_t>(o)]));
        });
        for_each_seen_row<windows>(i, j, [&](std::int64_t row) {
          D* to = dx + row * c.in;
          for (std::int64_t e = 0; e < c.in; ++e) to[e] = static_cast<D>(static_cast<Sum>(to[e]) + part[e]);
        });
      }
  }

 private:
  static constexpr Sum least = -std::numeric_limits<float>::infinity();
  static constexpr auto as_it_is = [](Sum value, auto...) { return value; };
  static constexpr auto larger = [](Sum p, Sum q) { return p > q ? p : q; };

  /// Computes the largest elements, or NaN where a window has one.
  static void reduce_to_largest_or_nan(const T* x, T* y, std::int64_t first = 0, std::int64_t last = b.out) {
    reduce(x, y, least, [](Sum p, Sum q) { return p > q || p != p ? p : q; }, as_it_is, first, last);
  }

  static Sum seen_rows(std::int64_t i, std::int64_t j) {
    return static_cast<Sum>(window_counts<a>[static_cast<std::size_t>(i)]) *
           static_cast<Sum>(window_counts<b>[static_cast<std::size_t>(j)]);
  }
  /// Computes the rows of results [first, last) of each plane of the last two axes. Not inlined, so that the arrays of two calls
  /// are never there together.
  template <class Join, class Finish>
  [[gnu::noinline]] static void reduce(const T* x, T* y, Sum start, Join join, Finish finish, std::int64_t first = 0,
                                       std::int64_t last = b.out) {
    y += first * c.out;
    for (std::int64_t i = 0; i < a.out; ++i)
      for (std::int64_t j = first; j < last; ++j, y += c.out) {
        Sum column[std::size_t(c.in)], row[std::size_t(c.out)];
        for (Sum& value : column) value = start;
        for (Sum& value : row) value = start;
        for_each_seen_row<windows>(i, j, [&](std::int64_t seen) {
          for (std::int64_t e = 0; e < c.in; ++e) column[e] = join(column[e], static_cast<Sum>(x[seen * c.in + e]));
        });
        for_each_tap<c.kernel>([&](auto k) {
          constexpr TapRange range(c, k);
          for (std::int64_t o = range.first; o < range.last; ++o) row[o] = join(row[o], column[c.at(o, k)]);
        });
        const Sum rows = seen_rows(i, j);
        for (std::int64_t o = 0; o < c.out; ++o) y[o] = static_cast<T>(finish(row[o], o, rows));
      }
  }
  /// Processes one row of windows that do not overlap, without branches: `left` is the part of the gradient that the window has
  /// not assigned yet.
  static void to_largest(const T* __restrict x, const T* __restrict dy, T* __restrict dx) {
    for (std::int64_t o = 0; o < c.out; ++o) {
      Sum largest = static_cast<Sum>(x[o * c.stride]), left = static_cast<Sum>(dy[o]);
      for_each_tap<b.kernel * c.kernel>([&](auto tap) __attribute__((always_inline)) {
        const Sum value = static_cast<Sum>(x[tap / c.kernel * c.in + o * c.stride + tap % c.kernel]);
        largest = value > largest ? value : largest;
      });
      for_each_tap<b.kernel * c.kernel>([&](auto tap) __attribute__((always_inline)) {
        const std::int64_t at = tap / c.kernel * c.in + o * c.stride + tap % c.kernel;
        const bool hit = !(static_cast<Sum>(x[at]) < largest);  // also of NaN: `left` is always given away
        dx[at] = static_cast<T>(hit ? left : Sum{});
        left = hit ? Sum{} : left;
      });
    }
  }
  /// Processes the windows with NaN of such a row again.
  [[gnu::noinline]] static void to_nan(const T* x, const T* dy, T* dx) {
    for (std::int64_t o = 0; o < c.out; ++o) {
      std::int64_t last = -1;
      for (std::int64_t k = 0; k < b.kernel; ++k)
        for (std::int64_t l = 0; l < c.kernel; ++l)
          if (const std::int64_t at = k * c.in + o * c.stride + l; x[at] != x[at]) last = at;
      if (last < 0) continue;
      for (std::int64_t k = 0; k < b.kernel; ++k) std::fill_n(dx + k * c.in + o * c.stride, c.kernel, T{});
      dx[last] = dy[o];
    }
  }
};

/// Calls f with the addresses of each plane of views (N, C, spatial...) whose spatial axes are dense.
template <class... V, class F>
inline void for_each_plane(F&& f, V... views) {
  using First = std::tuple_element_t<0, std::tuple<V...>>;
  for (std::int64_t n = 0; n < First::shape[0]; ++n)
    for (std::int64_t channel = 0; channel < First::shape[1]; ++channel)
      f(views.data + n * V::spec.stride(0) + channel * V::spec.stride(1)...);
}

}  // namespace tilewright::kernel
