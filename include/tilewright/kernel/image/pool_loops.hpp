#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/kernel/conv/loops.hpp"
#include "tilewright/operand/pool_windows.hpp"

namespace tilewright::kernel {

/// Pooling of a plane with gaps, in plain loops.
template <Windows windows, PoolGaps gaps, class T>
struct PoolLoops {
  using Sum = compute_t<T>;
  /// Bytes of the functions' arrays on the stack: they have none.
  static constexpr std::int64_t maximum_stack_bytes = 0, average_stack_bytes = 0, average_gradient_stack_bytes = 0;

  static void maximum(const T* x, T* y) {
    std::fill_n(y, results(), T{});
    for_each_window([&](auto at, auto&& for_each_element) {
      std::int64_t largest = -1;
      for_each_element([&](std::int64_t element) { keep_larger(x, largest, element); });
      y[at] = x[largest];
    });
  }
  static void average(const T* x, T* y) {
    std::fill_n(y, results(), T{});
    for_each_window([&](auto at, auto&& for_each_element) {
      Sum sum{}, count{};
      for_each_element([&](std::int64_t element) { sum += static_cast<Sum>(x[element]), count += 1; });
      y[at] = static_cast<T>(sum / count);
    });
  }
  template <class D>
  static void maximum_gradient(const T* x, const T* dy, D* dx) {
    std::fill_n(dx, elements(), D{});
    for_each_window([&](auto at, auto&& for_each_element) {
      std::int64_t largest = -1;
      for_each_element([&](std::int64_t element) { keep_larger(x, largest, element); });
      dx[largest] = static_cast<D>(static_cast<Sum>(dx[largest]) + static_cast<Sum>(dy[at]));
    });
  }
  template <class D>
  static void average_gradient(const T* dy, D* dx) {
    std::fill_n(dx, elements(), D{});
    for_each_window([&](auto at, auto&& for_each_element) {
      Sum count{};
      for_each_element([&](std::int64_t) { count += 1; });
      for_each_element([&](std::int64_t element) {
        dx[element] = static_cast<D>(static_cast<Sum>(dx[element]) + static_cast<Sum>(dy[at]) / count);
      });
    });
  }

 private:
  static constexpr std::int64_t in(int axis) { return (windows[axis].in - 1) / gaps.spacing[axis] + 1; }
  static constexpr std::int64_t out(int axis) { return gaps.begin[axis] + windows[axis].out + gaps.end[axis]; }
  static constexpr std::int64_t elements() { return in(0) * in(1) * in(2); }
  static constexpr std::int64_t results() { return out(0) * out(1) * out(2); }

  /// Keeps the first of equal numbers, and the last NaN, as in PyTorch.
  static void keep_larger(const T* x, std::int64_t& largest, std::int64_t element) {
    const auto value = static_cast<Sum>(x[element]);
    if (largest < 0 || value > static_cast<Sum>(x[largest]) || value != value) largest = element;
  }
  /// Calls f(index of the result, for_each_element) for each window.
  template <class F>
  static void for_each_window(F&& f) {
    constexpr Window a = windows[0], b = windows[1], c = windows[2];
    for_each_index(a.out, b.out, c.out, [&](auto i, auto j, auto o) {
      f(place(i + gaps.begin[0], j + gaps.begin[1], o + gaps.begin[2], out(1), out(2)), [&](auto&& element) {
        for_each_index(a.kernel, b.kernel, c.kernel, [&](auto k, auto l, auto p) {
          const auto i_x = a.at(i, k), j_x = b.at(j, l), o_x = c.at(o, p);
          if (gaps.contains(a, 0, i_x) && gaps.contains(b, 1, j_x) && gaps.contains(c, 2, o_x))
            element(place(i_x / gaps.spacing[0], j_x / gaps.spacing[1], o_x / gaps.spacing[2], in(1), in(2)));
        });
      });
    });
  }
};

}  // namespace tilewright::kernel
