#pragma once
#include <utility>

#include "tilewright/kernel/conv/convolve.hpp"

namespace tilewright::kernel {

/// Returns the view of one block of images (N, C, blocks, extent, ...): (N, C, extent, ...). `axes`: spatial axes with blocks.
constexpr ViewSpec view_of_block(const ViewSpec& blocks, int axes) {
  ViewSpec result{blocks.dtype, {blocks.shape[0], blocks.shape[1]}, {blocks.strides[0], blocks.strides[1]}};
  for (int axis = 2; axis < blocks.shape.rank; ++axis) {
    if (axis < 2 + 2 * axes && axis % 2 == 0) continue;
    result.strides[static_cast<std::size_t>(result.shape.rank)] = blocks.stride(axis);
    result.shape.push_back(blocks.shape[axis]);
  }
  return written_out(result);
}
template <class V, class W>
using BlockView = View<view_of_block(V::spec, V::shape.rank - W::shape.rank)>;

/// Calls f with the index along each spatial axis of each block of images (N, C, blocks, extent, ...).
template <class X, class W, class F>
inline void for_each_block(F&& f) {
  constexpr bool has_two = X::shape.rank - W::shape.rank > 1;
  for (std::int64_t i = 0; i < X::shape[2]; ++i)
    for (std::int64_t j = 0; j < (has_two ? X::shape[4] : 1); ++j) f(i, j);
}
/// Returns the elements from the first block to the block of these indices.
template <class V>
constexpr std::int64_t block_at(std::int64_t i, std::int64_t j) {
  return i * V::spec.stride(2) + (j == 0 ? 0 : j * V::spec.stride(4));
}

/// Whether images (N, C, places, 1) have dense places and windows of one place: as images of one axis, which the vector kernels
/// support.
template <Windows windows, class X, class Y>
constexpr bool are_places = windows == Windows{} && X::shape.rank == 4 && X::shape[3] == 1 &&
                            (X::shape[2] == 1 || (X::spec.stride(2) == 1 && Y::spec.stride(2) == 1));
template <class X>
constexpr Windows windows_of_places = {{{}, {}, {.in = X::shape[2], .out = X::shape[2]}}};
template <class V>
using PlacesView = View<written_out(
    ViewSpec{V::spec.dtype, {V::shape[0], V::shape[1], V::shape[2]}, {V::spec.stride(0), V::spec.stride(1), 1}})>;

/// Plain loops over blocks, whose views may have any strides. X, W and Y are those of the whole op.
template <Windows windows, ConvSums sums, class X, class W, class Y>
struct ConvBlocks {
  template <class XB, class YB>
  using Loops = std::conditional_t<sums == ConvSums::rounded, RoundedConv<windows, XB, W, YB>, ConvLoops<windows, XB, W, YB>>;
  using XBlock = BlockView<X, W>;
  using YBlock = BlockView<Y, W>;
  using OfBlock = Loops<XBlock, YBlock>;

  static void for_each(X x, Y y, auto&& f) {
    for_each_block<X, W>([&](auto i, auto j) { f(XBlock{x.data + block_at<X>(i, j)}, YBlock{y.data + block_at<Y>(i, j)}); });
  }
  static void forward(X x, W w, Y y) {
    for_each(x, y, [&](auto data, auto result) { OfBlock::forward(data, w, result); });
  }
  static void data_gradient(Y dy, W w, X dx) {
    for_each(dx, dy, [&](auto data, auto result) { OfBlock::data_gradient(result, w, data); });
  }
  static void weights_gradient(X x, Y dy, W dw) {
    using One = ConvLoops<windows, XBlock, W, YBlock>;
    using Element = typename One::Element;
    static constexpr std::int64_t terms = Y::shape.nelms() / Y::shape[1];
    for (std::int64_t m = 0; m < W::shape[0]; ++m)
      for (std::int64_t channel = 0; channel < One::group_channels; ++channel)
        One::for_each_tap([&](auto k, auto l, auto p, auto tap) {
          std::conditional_t<sums == ConvSums::rounded, RoundedSum, PlainSum<product_sum_t<Element, terms>>> sum;
          for (std::int64_t n = 0; n < X::shape[0]; ++n)
            for_each(x, dy, [&](auto data, auto gradient) {
              const auto* plane = data.data + One::x_at(n, m / One::group_results * One::group_channels + channel);
              const auto* of_result = gradient.data + One::y_at(n, m);
              for_each_index(windows[0].out, windows[1].out, windows[2].out, [&](auto i, auto j, auto o) {
                const auto i_x = windows[0].at(i, k), j_x = windows[1].at(j, l), o_x = windows[2].at(o, p);
                if (!windows[0].contains(i_x) || !windows[1].contains(j_x) || !windows[2].contains(o_x)) return sum.add(0.f);
                sum.add(static_cast<Element>(plane[One::template element_at<XBlock>(i_x, j_x, o_x)]) *
                        static_cast<Element>(of_result[One::template element_at<YBlock>(i, j, o)]));
              });
            });
          sum.close();
          dw.data[One::w_at(m, channel) + tap] = static_cast<typename W::element>(sum.sum());
        });
  }

 private:
  template <class Sum>
  class PlainSum {
   public:
    void add(auto product) { sum_ += product; }
    void close() {}
    Sum sum() const { return sum_; }

   private:
    Sum sum_{};
  };
};

/// Computes y, the convolution of the blocks of x with w.
template <Windows windows, ConvSums sums, class X, class W, class Y>
inline void convolve_blocks(X x, W w, Y y) {
  if constexpr (are_places<windows, X, Y>) convolve<windows_of_places<X>, sums>(PlacesView<X>{x.data}, w, PlacesView<Y>{y.data});
  else ConvBlocks<windows, sums, X, W, Y>::forward(x, w, y);
}
template <Windows windows, ConvSums sums, class X, class W, class Y>
constexpr std::int64_t convolve_blocks_stack_bytes() {
  if constexpr (are_places<windows, X, Y>)
    return convolve_stack_bytes<windows_of_places<X>, sums, PlacesView<X>, W, PlacesView<Y>>();
  else return 0;
}
/// Computes dx, the gradient of the data of blocks.
template <Windows windows, ConvSums sums, class DY, class W, class DX>
inline void convolve_blocks_back(DY dy, W w, DX dx) {
  if constexpr (are_places<windows, DX, DY>)
    convolve_back<windows_of_places<DX>, sums>(PlacesView<DY>{dy.data}, w, PlacesView<DX>{dx.data});
  else ConvBlocks<windows, sums, DX, W, DY>::data_gradient(dy, w, dx);
}
template <Windows windows, ConvSums sums, class DY, class W, class DX>
constexpr std::int64_t convolve_blocks_back_stack_bytes() {
  if constexpr (are_places<windows, DX, DY>)
    return convolve_back_stack_bytes<windows_of_places<DX>, sums, PlacesView<DY>, W, PlacesView<DX>>();
  else return 0;
}
/// Computes dw, the gradient of the weights.
template <Windows windows, ConvSums sums, class X, class DY, class DW>
inline void convolve_blocks_weights(X x, DY dy, DW dw) {
  if constexpr (are_places<windows, X, DY>)
    convolve_weights<windows_of_places<X>, sums>(PlacesView<X>{x.data}, PlacesView<DY>{dy.data}, dw);
  else ConvBlocks<windows, sums, X, DW, DY>::weights_gradient(x, dy, dw);
}
template <Windows windows, ConvSums sums, class X, class DY, class DW>
constexpr std::int64_t convolve_blocks_weights_stack_bytes() {
  if constexpr (are_places<windows, X, DY>)
    return convolve_weights_stack_bytes<windows_of_places<X>, sums, PlacesView<X>, PlacesView<DY>, DW>();
  else return 0;
}

}  // namespace tilewright::kernel
