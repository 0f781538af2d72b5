#pragma once
// Which convolutions have kernels for images with channels as the last axis of memory: lower/host/channels_last.hpp.
#include <cstdint>

#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/operand/blocks.hpp"
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright::detail {

/// Returns the tiles of 4 elements along an axis of x.
constexpr std::int64_t winograd_tiles(const TensorSpec& x, int axis) { return kernel::ceil_div(x.shape[axis], 4); }
/// Returns whether a convolution of x to y in Winograd's form, or its gradient of x, has room for a row of tiles: most_points of
/// kernel::WinogradConv.
constexpr bool winograd_takes_pixels(const TensorSpec& x, const TensorSpec& y) {
  return 36 * winograd_tiles(x, 3) * (x.shape[1] + y.shape[1]) <= 65'536;
}
/// Returns whether this also holds for the gradient of weights, whose sums of points are short: kernel::WinogradWeights::fits.
constexpr bool winograd_sums_pixels(const TensorSpec& x, const TensorSpec& y) {
  return winograd_takes_pixels(x, y) && !kernel::is_long_product(x.shape[0] * winograd_tiles(x, 2) * winograd_tiles(x, 3));
}
/// Returns whether x, float32 planes, has so few channels that vectors run along results: kernel::ConvWeightsByResults.
constexpr bool few_channels_to_pixels(const TensorSpec& x, const kernel::Windows& windows) {
  constexpr std::int64_t most_channels = 4, most_taps = 12;
  return x.dtype == float32 && x.shape.rank == 4 && x.shape[1] <= most_channels && windows.kernel() <= most_taps;
}
constexpr bool has_no_padding(const kernel::Windows& windows) {
  for (const kernel::Window& window : windows.axes)
    if (window.first_inner() != 0 || window.last_inner() != window.out) return false;
  return true;
}

}  // namespace tilewright::detail
