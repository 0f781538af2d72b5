#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <span>

#include "tilewright/layers/per_axis.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/nn/pool.hpp"

namespace tilewright::layers {

/// Options of maximum pools, with the names of torch.nn.MaxPool2d. Each is a number for all spatial axes, or a list with one
/// number for each axis.
template <int axes>
struct PoolLayerOptions {
  PerAxis<axes> stride = 0;  ///< distance between neighbouring windows, in elements; 0: the size of the kernel
  PerAxis<axes> padding = 0;  ///< elements of the lowest value added at both ends of each axis
  PerAxis<axes> dilation = 1;  ///< distance between neighbouring elements of a window
  Flag ceil_mode = false;  ///< whether the number of windows is rounded up; the last windows may then reach beyond the padding
};
/// Options of average pools, with the names of torch.nn.AvgPool2d and `dilation`, which PyTorch's pool does not have. Each is a
/// number for all spatial axes, or a list with one number for each axis.
template <int axes>
struct AvgPoolLayerOptions {
  PerAxis<axes> stride = 0;  ///< distance between neighbouring windows, in elements; 0: the size of the kernel
  PerAxis<axes> padding = 0;  ///< zeros added at both ends of each axis
  PerAxis<axes> dilation = 1;  ///< distance between neighbouring elements of a window
  Flag ceil_mode = false;  ///< whether the number of windows is rounded up; the last windows may then reach beyond the padding
  Flag count_include_pad = true;  ///< whether means count padding as zeros; elements beyond the padding never count
  int divisor_override = 0;  ///< number by which the sum of each window is divided; 0: the number of elements that count
};

namespace detail {
template <int axes, class Options>
constexpr PoolOptions pool_options(const PerAxis<axes>& kernel_size, const Options& options) {
  PoolOptions result{
      .stride = kernel_size.list(), .padding = options.padding.at_both_ends(), .dilation = options.dilation.list()};
  if (options.stride != PerAxis<axes>(0)) result.stride = options.stride.list();
  result.ceil_mode = options.ceil_mode;
  return result;
}
/// Returns, for each window along an axis, a factor that turns the mean of its elements of x into their sum, or if `means` into a
/// mean that counts padding as zeros.
constexpr List<double> window_factors(const kernel::Window& window, std::int64_t padding, bool means) {
  List<double> result;
  for (std::int64_t o = 0; o < window.out; ++o) {
    int within = 0, all = 0;
    for (std::int64_t k = 0; k < window.kernel; ++k) {
      const std::int64_t at = window.at(o, k);
      within += window.contains(at);
      all += at < window.in + padding;
    }
    result.push_back(means ? static_cast<double>(within) / all : within);
  }
  return result;
}
/// Converts y, the means over the elements of x in each window, to what the options say. y has the floating-point dtype of the
/// computation.
template <int axes>
constexpr Tensor with_divisors(Tensor y, const Shape& x, const PerAxis<axes>& kernel_size, const AvgPoolLayerOptions<axes>& given,
                               const PoolOptions& options) {
  Shape kernel;
  for (const int extent : kernel_size.values) kernel.push_back(extent);
  const kernel::Windows windows = tilewright::detail::windows_of(
      x, kernel, tilewright::detail::pool_attributes(kernel_size.list(), options).windows);
  const bool means = given.divisor_override == 0;
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t zeros = given.padding.values[static_cast<std::size_t>(axis)];
    if (means && zeros == 0) continue;
    const List<double> factors = window_factors(windows[3 - axes + axis], zeros, means);
    Shape shape{static_cast<std::int64_t>(factors.size())};
    for (int later = axis + 1; later < axes; ++later) shape.push_back(1);
    y = y * y.ir().constant(values(std::span<const double>(factors.begin(), factors.end())), shape, y.dtype(), "padding");
  }
  return means ? y : y / given.divisor_override;
}
}  // namespace detail

/// Maximum pool: the largest element of each window, ops::max_pool. x: (batch, channels, spatial axes), float16, bfloat16,
/// float32 or float64. The layer has no variables. MaxPool1d, MaxPool2d and MaxPool3d, for 1, 2 and 3 spatial axes, are the
/// layers of torch.nn of these names.
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

/// Average pool: the mean of each window's elements, ops::average_pool. Means count padding as zeros unless count_include_pad is
/// false. x: (batch, channels, spatial axes), float16, bfloat16, float32 or float64. The layer has no variables. AvgPool1d,
/// AvgPool2d and AvgPool3d, for 1, 2 and 3 spatial axes, are the layers of torch.nn of these names.
template <int axes, PerAxis<axes> kernel_size, AvgPoolLayerOptions<axes> options = {}>
struct AvgPool : Module<AvgPool<axes, kernel_size, options>> {
  constexpr Tensor build(Tensor x) {
    const PoolOptions of_op = detail::pool_options(kernel_size, options);
    const bool counts_padding = options.count_include_pad && options.padding != PerAxis<axes>(0);
    if ((!counts_padding && options.divisor_override == 0) || !x.valid()) return ops::average_pool(x, kernel_size.list(), of_op);
    const Tensor y = ops::average_pool(ops::cast(x, computed_dtype(x.dtype())), kernel_size.list(), of_op);
    if (!y.valid()) return y;
    return ops::cast(detail::with_divisors(y, x.shape(), kernel_size, options, of_op), x.dtype());
  }
};
template <PerAxis<1> kernel_size, AvgPoolLayerOptions<1> options = {}>
using AvgPool1d = AvgPool<1, kernel_size, options>;
template <PerAxis<2> kernel_size, AvgPoolLayerOptions<2> options = {}>
using AvgPool2d = AvgPool<2, kernel_size, options>;
template <PerAxis<3> kernel_size, AvgPoolLayerOptions<3> options = {}>
using AvgPool3d = AvgPool<3, kernel_size, options>;

}  // namespace tilewright::layers
