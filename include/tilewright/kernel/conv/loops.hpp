#pragma once
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright::kernel {

/// Calls f(a, b, c) for all indices below three extents.
template <class F>
inline void for_each_index(std::int64_t a_end, std::int64_t b_end, std::int64_t c_end, F&& f) {
  for (std::int64_t a = 0; a < a_end; ++a)
    for (std::int64_t b = 0; b < b_end; ++b)
      for (std::int64_t c = 0; c < c_end; ++c) f(a, b, c);
}
/// The index of an element in a dense block of three axes.
constexpr std::int64_t place(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t b_extent, std::int64_t c_extent) {
  return (a * b_extent + b) * c_extent + c;
}

/// Convolution and its gradients in plain loops, for up to three spatial axes and any floating point elements, which are summed
/// in float. X, W and Y are the views of (N, C, spatial), (M, C / groups, kernel) and (N, M, spatial).
template <Windows windows, class X, class W, class Y>
struct ConvLoops {
  using Element = compute_t<typename X::element>;
  static constexpr Window a = windows[0], b = windows[1], c = windows[2];
  static constexpr std::int64_t group_channels = W::shape[1], groups = X::shape[1] / group_channels;
  static constexpr std::int64_t group_results = W::shape[0] / groups;
  static constexpr std::int64_t taps = a.kernel * b.kernel * c.kernel;

  static constexpr std::int64_t x_at(std::int64_t n, std::int64_t channel) {
    return n * X::spec.stride(0) + channel * X::spec.stride(1);
  }
  static constexpr std::int64_t w_at(std::int64_t m, std::int64_t channel) {
    return m * W::spec.stride(0) + channel * W::spec.stride(1);
  }
  static constexpr std::int64_t y_at(std::int64_t n, std::int64_t m) { return n * Y::spec.stride(0) + m * Y::spec.stride(1); }
  /// Returns the offset of element (i, j, o) of a view's spatial axes.
  template <class V>
  static constexpr std::int64_t element_at(std::int64_t i, std::int64_t j, std::int64_t o) {
    constexpr ViewSpec view = V::spec;
    return o * view.stride(-1) + (view.shape.rank > 3 ? j * view.stride(-2) : 0) +
           (view.shape.rank > 4 ? i * view.stride(-3) : 0);
  }
  template <class F>
  static void for_each_tap(F&& f) {
    for_each_index(a.kernel, b.kernel, c.kernel, [&](auto k, auto l, auto p) { f(k, l, p, place(k, l, p, b.kernel, c.kernel)); });
  }

  static void forward(X x, W w, Y y) {
    for_each_result(x, w, [y](std::int64_t n, std::int64_t m, std::int64_t i, std::int64_t j, std::int64_t o, auto sum) {
      y.data[y_at(n, m) + element_at<Y>(i, j, o)] = static_cast<typename Y::element>(sum);
    });
  }
  /// Calls f(n, m, indices along the spatial axes, sum) for each result.
  template <class F>
  static void for_each_result(X x, W w, F&& f) {
    for (std::int64_t n = 0; n < X::shape[0]; ++n)
      for (std::int64_t m = 0; m < W::shape[0]; ++m)
        for_each_index(a.out, b.out, c.out, [&](auto i, auto j, auto o) {
          product_sum_t<Element, group_channels * taps> sum{};
          for (std::int64_t channel = 0; channel < group_channels; ++channel) {
            const auto* plane = x.data + x_at(n, m / group_results * group_channels + channel);
            const auto* weight = w.data + w_at(m, channel);
            for_each_tap([&](auto k, auto l, auto p, auto tap) {
              const auto i_x = a.at(i, k), j_x = b.at(j, l), o_x = c.at(o, p);
              if (a.contains(i_x) && b.contains(j_x) && c.contains(o_x))
                sum += static_cast<Element>(plane[element_at<X>(i_x, j_x, o_x)]) * static_cast<Element>(weight[tap]);
            });
          }
          f(n, m, i, j, o, sum);
        });
  }
  /// Returns the result whose window has element i at tap k, or -1.
  static constexpr std::int64_t seen_by(const Window& window, std::int64_t i, std::int64_t k) {
    const std::int64_t o = i + window.begin - k * window.dilation;
    return o >= 0 && o % window.stride == 0 && o / window.stride < window.out ? o / window.stride : -1;
  }
  static void data_gradient(Y dy, W w, X dx) {
    for (std::int64_t n = 0; n < X::shape[0]; ++n)
      for (std::int64_t channel = 0; channel < X::shape[1]; ++channel)
        for_each_index(a.in, b.in, c.in, [&](auto i, auto j, auto o) {
          const std::int64_t first = channel / group_channels * group_results;
          product_sum_t<Element, group_results * taps> sum{};
          for (std::int64_t m = first; m < first + group_results; ++m) {
            const auto* plane = dy.data + y_at(n, m);
            const auto* weight = w.data + w_at(m, channel % group_channels);
            for_each_tap([&](auto k, auto l, auto p, auto tap) {
              const auto i_y = seen_by(a, i, k), j_y = seen_by(b, j, l), o_y = seen_by(c, o, p);
              if (i_y >= 0 && j_y >= 0 && o_y >= 0)
                sum += static_cast<Element>(plane[element_at<Y>(i_y, j_y, o_y)]) * static_cast<Element>(weight[tap]);
            });
          }
          dx.data[x_at(n, channel) + element_at<X>(i, j, o)] = static_cast<typename X::element>(sum);
        });
  }
  static void weights_gradient(X x, Y dy, W dw) {
    for (std::int64_t m = 0; m < W::shape[0]; ++m)
      for (std::int64_t channel = 0; channel < group_channels; ++channel)
        for_each_tap([&](auto k, auto l, auto p, auto tap) {
          product_sum_t<Element, X::shape[0] * a.out * b.out * c.out> sum{};
          for (std::int64_t n = 0; n < X::shape[0]; ++n) {
            const auto* plane = x.data + x_at(n, m / group_results * group_channels + channel);
            const auto* gradient = dy.data + y_at(n, m);
            for_each_index(a.out, b.out, c.out, [&](auto i, auto j, auto o) {
              const auto i_x = a.at(i, k), j_x = b.at(j, l), o_x = c.at(o, p);
              if (a.contains(i_x) && b.contains(j_x) && c.contains(o_x))
                sum += static_cast<Element>(plane[element_at<X>(i_x, j_x, o_x)]) *
                       static_cast<Element>(gradient[element_at<Y>(i, j, o)]);
            });
          }
          dw.data[w_at(m, channel) + tap] = static_cast<typename W::element>(sum);
        });
  }
};

}  // namespace tilewright::kernel
