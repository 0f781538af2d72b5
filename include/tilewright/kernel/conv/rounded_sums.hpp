#pragma once
#include "tilewright/kernel/conv/loops.hpp"
#include "tilewright/kernel/matmul/rounded_sums.hpp"

namespace tilewright::kernel {

/// Convolutions of float16 with sums of float16, in plain loops. An IPU's unit adds up 16 channels of one element of the kernel
/// at a time (poplibs, poplin: 16 input channels in a group); for the weights' gradient, 16 places of the images.
template <Windows windows, class X, class W, class Y>
struct RoundedConv : ConvLoops<windows, X, W, Y> {
  using Loops = ConvLoops<windows, X, W, Y>;
  using Loops::a, Loops::b, Loops::c, Loops::group_channels, Loops::group_results;

  static void forward(X x, W w, Y y) {
    for (std::int64_t n = 0; n < X::shape[0]; ++n)
      for (std::int64_t m = 0; m < W::shape[0]; ++m)
        for_each_index(a.out, b.out, c.out, [&](auto i, auto j, auto o) {
          RoundedSum sum;
          Loops::for_each_tap([&](auto k, auto l, auto p, auto tap) {
            const auto i_x = a.at(i, k), j_x = b.at(j, l), o_x = c.at(o, p);
            if (!a.contains(i_x) || !b.contains(j_x) || !c.contains(o_x)) return;
            const std::int64_t first = m / group_results * group_channels, at = Loops::template element_at<X>(i_x, j_x, o_x);
            for (std::int64_t channel = 0; channel < group_channels; ++channel)
              sum.add(static_cast<float>(x.data[Loops::x_at(n, first + channel) + at]) *
                      static_cast<float>(w.data[Loops::w_at(m, channel) + tap]));
            sum.close();
          });
          y.data[Loops::y_at(n, m) + Loops::template element_at<Y>(i, j, o)] = static_cast<typename Y::element>(sum.sum());
        });
  }
  static void data_gradient(Y dy, W w, X dx) {
    for (std::int64_t n = 0; n < X::shape[0]; ++n)
      for (std::int64_t channel = 0; channel < X::shape[1]; ++channel)
        for_each_index(a.in, b.in, c.in, [&](auto i, auto j, auto o) {
          RoundedSum sum;
          Loops::for_each_tap([&](auto k, auto l, auto p, auto tap) {
            const auto i_y = Loops::seen_by(a, i, k), j_y = Loops::seen_by(b, j, l), o_y = Loops::seen_by(c, o, p);
            if (i_y < 0 || j_y < 0 || o_y < 0) return;
            const std::int64_t first = channel / group_channels * group_results,
                               at = Loops::template element_at<Y>(i_y, j_y, o_y);
            for (std::int64_t m = first; m < first + group_results; ++m)
              sum.add(static_cast<float>(dy.data[Loops::y_at(n, m) + at]) *
                      static_cast<float>(w.data[Loops::w_at(m, channel % group_channels) + tap]));
            sum.close();
          });
          dx.data[Loops::x_at(n, channel) + Loops::template element_at<X>(i, j, o)] = static_cast<typename X::element>(sum.sum());
        });
  }
  static void weights_gradient(X x, Y dy, W dw) {
    for (std::int64_t m = 0; m < W::shape[0]; ++m)
      for (std::int64_t channel = 0; channel < group_channels; ++channel)
        Loops::for_each_tap([&](auto k, auto l, auto p, auto tap) {
          RoundedSum sum;
          for (std::int64_t n = 0; n < X::shape[0]; ++n)
            for_each_index(a.out, b.out, c.out, [&](auto i, auto j, auto o) {
              const auto i_x = a.at(i, k), j_x = b.at(j, l), o_x = c.at(o, p);
              if (!a.contains(i_x) || !b.contains(j_x) || !c.contains(o_x)) return sum.add(0);  // of the padding
              const std::int64_t from = Loops::x_at(n, m / group_results * group_channels + channel);
              sum.add(static_cast<float>(x.data[from + Loops::template element_at<X>(i_x, j_x, o_x)]) *
                      static_cast<float>(dy.data[Loops::y_at(n, m) + Loops::template element_at<Y>(i, j, o)]));
            });
          sum.close();
          dw.data[Loops::w_at(m, channel) + tap] = static_cast<typename W::element>(sum.sum());
        });
  }
};

}  // namespace tilewright::kernel
