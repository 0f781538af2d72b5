#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/layers/per_axis.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/pool.hpp"

namespace tilewright::layers {

namespace detail {
/// The windows of an adaptive pool along an axis: window i has the elements from floor(i in / out) to ceil((i + 1) in / out) - 1,
/// as in PyTorch's adaptive pools. Neighbouring windows share an element if `out` does not divide `in`.
struct AdaptiveWindows {
  std::int64_t in = 0, out = 0;

  constexpr std::int64_t begin(std::int64_t i) const { return i * in / out; }
  constexpr std::int64_t end(std::int64_t i) const { return ((i + 1) * in + out - 1) / out; }
  constexpr bool equal() const { return in % out == 0; }
  constexpr std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < out; ++i) most = (std::max)(most, end(i) - begin(i));
    return most;
  }
  /// Returns a matrix (out, in) whose product with a vector has the means of the windows.
  constexpr Tensor means(Ir& ir, DType dtype) const {
    return ir.constant(Initialiser{.generator = {write_means}}, {out, in}, dtype, "windows");
  }
  /// Returns the elements of all windows, as indices (out, longest()). Shorter windows have their last element again.
  constexpr Tensor elements(Ir& ir) const {
    return ir.constant(Initialiser{.generator = {write_elements, static_cast<double>(in)}}, {out, longest()}, int32, "windows");
  }
  static constexpr void write_means(Span<double> values, std::int64_t first, const Shape& shape, double, double) {
    const AdaptiveWindows windows{shape[1], shape[0]};
    tilewright::detail::write_matrix(values, first, shape, [&](std::int64_t i, std::int64_t at) {
      const std::int64_t begin = windows.begin(i), end = windows.end(i);
      return at >= begin && at < end ? 1.0 / static_cast<double>(end - begin) : 0;
    });
  }
  static constexpr void write_elements(Span<double> values, std::int64_t first, const Shape& shape, double in, double) {
    const AdaptiveWindows windows{static_cast<std::int64_t>(in), shape[0]};
    tilewright::detail::write_matrix(values, first, shape, [&](std::int64_t i, std::int64_t k) {
      return static_cast<double>((std::min)(windows.begin(i) + k, windows.end(i) - 1));
    });
  }
};
/// Fails unless x has `axes` spatial axes, and each number of windows is one that fits.
template <int axes>
constexpr bool check_adaptive(std::string_view layer, Tensor x, const PerAxis<axes>& output_size) {
  const auto fail = [&](const auto&... pieces) {
    x.ir().fail(text(layer, axes, "d: ", pieces..., " expected"));
    return false;
  };
  if (x.rank() != 2 + axes || x.nelms() == 0)
    return fail(to_text(x.spec()), ": axes (batch, channels) and ", axes, " spatial ones with elements");
  for (const int size : output_size.values)
    if (size < 1 || size > WindowAttributes::most)
      return fail("output_size ", size, ": from 1 to ", std::int64_t{WindowAttributes::most});
  return true;
}
template <int axes>
constexpr AdaptiveWindows adaptive_windows(Tensor x, const PerAxis<axes>& output_size, int axis) {
  return {x.shape(2 + axis), output_size.values[static_cast<std::size_t>(axis)]};
}
/// Returns y with the means of the windows along an axis.
constexpr Tensor means_along(Tensor y, int axis, const AdaptiveWindows& windows) {
  Shape result = y.shape();
  std::int64_t before = 1, after = 1;
  for (int i = 0; i < y.rank(); ++i) (i < axis ? before : after) *= i == axis ? 1 : y.shape(i);
  result[axis] = windows.out;
  const Tensor matrix = windows.means(y.ir(), y.dtype());
  if (after == 1) return y.reshape({before, windows.in}).matmul(matrix.T()).reshape(result);
  return matrix.matmul(y.reshape({before, windows.in, after})).reshape(result);
}
}  // namespace detail

/// Average pool with a given number of windows for each spatial axis: torch.nn.AdaptiveAvgPool1d, 2d and 3d. `output_size` is a
/// number for all spatial axes, or a list with one number for each. x: (batch, channels, spatial axes), float16, bfloat16,
/// float32 or float64. Result: (batch, channels, output_size), of x's dtype, rounded once. Window i of n along an axis of m
/// elements has the elements from floor(i m / n) to ceil((i + 1) m / n) - 1. The layer has no variables. Errors: other axes; an
/// output_size below 1.
template <int axes, PerAxis<axes> output_size>
struct AdaptiveAvgPool : Module<AdaptiveAvgPool<axes, output_size>> {
  constexpr Tensor build(Tensor x) {
    if (!detail::check_adaptive("AdaptiveAvgPool", x, output_size)) return Tensor::invalid(x.ir());
    List<std::int64_t> kernel;
    bool equal = true;
    for (int axis = 0; axis < axes; ++axis) {
      const auto windows = detail::adaptive_windows(x, output_size, axis);
      equal = equal && windows.equal();
      kernel.push_back(windows.longest());
    }
    if (equal) return ops::average_pool(x, kernel, {.stride = kernel});
    Tensor y = ops::cast(x, computed_dtype(x.dtype()));
    for (int axis = 0; axis < axes; ++axis)
      if (const auto windows = detail::adaptive_windows(x, output_size, axis); windows.in != windows.out)
        y = detail::means_along(y, 2 + axis, windows);
    return ops::cast(y, x.dtype());
  }
};
template <PerAxis<1> output_size>
using AdaptiveAvgPool1d = AdaptiveAvgPool<1, output_size>;
template <PerAxis<2> output_size>
using AdaptiveAvgPool2d = AdaptiveAvgPool<2, output_size>;
template <PerAxis<3> output_size>
using AdaptiveAvgPool3d = AdaptiveAvgPool<3, output_size>;

/// Maximum pool with a given number of windows for each spatial axis: torch.nn.AdaptiveMaxPool1d, 2d and 3d. Windows, x and
/// errors are those of AdaptiveAvgPool. Where several elements of a window are the largest, the first one gets the gradient, as
/// in PyTorch. The layer has no variables.
template <int axes, PerAxis<axes> output_size>
struct AdaptiveMaxPool : Module<AdaptiveMaxPool<axes, output_size>> {
  constexpr Tensor build(Tensor x) {
    if (!detail::check_adaptive("AdaptiveMaxPool", x, output_size)) return Tensor::invalid(x.ir());
    List<std::int64_t> kernel;
    Tensor y = x;
    for (int axis = 0; axis < axes; ++axis) {
      const auto windows = detail::adaptive_windows(x, output_size, axis);
      kernel.push_back(windows.longest());
      if (!windows.equal()) y = ops::gather(y, windows.elements(x.ir()).flatten(), 2 + axis);
    }
    return ops::max_pool(y, kernel, {.stride = kernel});
  }
};
template <PerAxis<1> output_size>
using AdaptiveMaxPool1d = AdaptiveMaxPool<1, output_size>;
template <PerAxis<2> output_size>
using AdaptiveMaxPool2d = AdaptiveMaxPool<2, output_size>;
template <PerAxis<3> output_size>
using AdaptiveMaxPool3d = AdaptiveMaxPool<3, output_size>;

}  // namespace tilewright::layers
