#pragma once
#include "tilewright/layers/per_axis.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/pool.hpp"

namespace tilewright::layers {

/// Numbers for all spatial axes, or lists of one for each.
template <int axes>
struct PoolLayerOptions {
  PerAxis<axes> stride = 0;  ///< 0: the kernel's size
  PerAxis<axes> padding = 0;
  PerAxis<axes> dilation = 1;
  bool ceil_mode = false;  ///< the count of results is rounded up: the last windows may go beyond the padding
};

namespace detail {
template <int axes>
constexpr PoolOptions pool_options(const PerAxis<axes>& kernel_size, const PoolLayerOptions<axes>& options) {
  PoolOptions result{
      .stride = kernel_size.list(), .padding = options.padding.at_both_ends(), .dilation = options.dilation.list()};
  if (options.stride != PerAxis<axes>(0)) result.stride = options.stride.list();
  result.ceil_mode = options.ceil_mode;
  return result;
}
}  // namespace detail

/// The largest element of each window: ops::max_pool. x: (batch, channels, spatial axes), float16, bfloat16, float32 or float64.
/// It has no variables. MaxPool1d, MaxPool2d and MaxPool3d are for 1, 2 and 3 spatial axes.
template <int axes, PerAxis<axes> kernel_size, PoolLayerOptions<axes> options = {}>
struct MaxPool : Module<MaxPool<axes, kernel_size, options>> {
  constexpr Tensor build(Tensor x) { return ops::max_pool(x, kernel_size.list(), detail::pool_options(kernel_size, options)); }
};
template <PerAxis<1> kernel_size, PoolLayerOptions<1> options = {}>
using MaxPool1d = MaxPool<1, kernel_size, options>;
template <PerAxis<2> kernel_size, PoolLayerOptions<2> options = {}>
using MaxPool2d = MaxPool<2, kernel_size, options>;
template <PerAxis<3> kernel_size, PoolLayerOptions<3> options = {}>
using MaxPool3d = MaxPool<3, kernel_size, options>;

/// The mean of each window's elements: ops::average_pool. The rest as for MaxPool. Padding is left out of the mean, which PyTorch
/// does with count_include_pad=False.
template <int axes, PerAxis<axes> kernel_size, PoolLayerOptions<axes> options = {}>
struct AvgPool : Module<AvgPool<axes, kernel_size, options>> {
  constexpr Tensor build(Tensor x) {
    return ops::average_pool(x, kernel_size.list(), detail::pool_options(kernel_size, options));
  }
};
template <PerAxis<1> kernel_size, PoolLayerOptions<1> options = {}>
using AvgPool1d = AvgPool<1, kernel_size, options>;
template <PerAxis<2> kernel_size, PoolLayerOptions<2> options = {}>
using AvgPool2d = AvgPool<2, kernel_size, options>;
template <PerAxis<3> kernel_size, PoolLayerOptions<3> options = {}>
using AvgPool3d = AvgPool<3, kernel_size, options>;

}  // namespace tilewright::layers
