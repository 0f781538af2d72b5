#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/first_values.hpp"
#include "tilewright/layers/per_axis.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/linear/conv.hpp"
#include "tilewright/ops/linear/conv_transpose.hpp"

namespace tilewright::layers {

/// Options of convolutions and transposed convolutions, with the names and defaults of torch.nn.Conv2d and ConvTranspose2d. Each
/// option is a number for all spatial axes, or a list with one number for each axis.
template <int axes>
struct ConvLayerOptions {
  PerAxis<axes> stride = 1;  ///< distance between neighbouring windows, in elements
  PerAxis<axes> padding = 0;  ///< zeros added at both ends of each axis
  PerAxis<axes> dilation = 1;  ///< distance between neighbouring elements of the kernel
  PerAxis<axes> output_padding = 0;  ///< transposed convolutions only: elements added at the end of the result
  int groups = 1;  ///< number of groups of channels, each of which is convolved separately
  Flag bias = true;  ///< whether each channel of the result gets a bias
};

namespace detail {
/// Checks that x is (batch, channels, `axes` spatial ones) and that `groups` divides the channels. Returns false, with an error,
/// if not.
constexpr bool check_images(Tensor x, std::string_view layer, int axes, int groups) {
  if (x.rank() != axes + 2) {
    x.ir().fail(text(layer, axes, "d: ", to_text(x.spec()), ": axes (batch, channels) and ", axes, " spatial ones expected"));
    return false;
  }
  if (groups > 0 && x.shape(1) % groups == 0) return true;
  x.ir().fail(text(layer, axes, "d: ", groups, " groups of the channels of ", to_text(x.spec()), ": a divisor of ", x.shape(1),
                   " expected"));
  return false;
}
/// Checks that there is at least one channel and that `groups` divides the channels. Returns false, with an error, if not.
constexpr bool check_channels(Tensor x, std::string_view layer, int axes, int out_channels, int groups = 1) {
  if (out_channels > 0 && out_channels % groups == 0) return true;
  x.ir().fail(text(layer, axes, "d: out_channels ", out_channels, ": at least 1",
                   groups > 1 ? text(", a multiple of ", groups, " groups,") : tilewright::Text(), " expected"));
  return false;
}
/// Broadcasts the bias of each channel over the spatial axes of y.
constexpr Tensor of_channels(Tensor bias, Tensor y) {
  Shape shape{bias.shape(0)};
  for (int axis = 2; axis < y.rank(); ++axis) shape.push_back(1);
  return bias.reshape(shape);
}
}  // namespace detail

/// Convolution with a bias: ops::conv. x: (batch, in_channels, spatial axes), float16, bfloat16, float32 or float64. Result:
/// (batch, out_channels, spatial axes), of x's dtype; ops::conv states the extents. Conv1d, Conv2d and Conv3d, for 1, 2 and 3
/// spatial axes, are the layers of torch.nn of these names.
///
/// Variables, of x's dtype, with PyTorch's shapes: `weight` (out_channels, in_channels / groups, kernel_size) and `bias`
/// (out_channels,). Initial values are PyTorch's: uniform within 1 / sqrt(in_channels / groups * elements of the kernel).
///
///     tw::layers::Conv2d<32, 3, {.padding = 1}>          // 3 x 3, as many rows and columns as before
///     tw::layers::Conv2d<32, {3, 5}, {.stride = {1, 2}}>
template <int axes, int out_channels, PerAxis<axes> kernel_size, ConvLayerOptions<axes> options = {}>
struct Conv : Module<Conv<axes, out_channels, kernel_size, options>> {
  static_assert(options.output_padding == PerAxis<axes>(0), "Conv: output_padding is an option of transposed convolutions");

  constexpr Tensor build(Tensor x) {
    if (!detail::check_images(x, "Conv", axes, options.groups)) return Tensor::invalid(x.ir());
    if (!detail::check_channels(x, "Conv", axes, out_channels)) return Tensor::invalid(x.ir());
    const Shape shape = kernel_size.after(out_channels, x.shape(1) / options.groups);
    const Initialiser initial = detail::within_root(shape.nelms() / out_channels);
    const Tensor y = ops::conv(x, this->add_variable_input("weight", initial, shape, x.dtype()),
                               {.stride = options.stride.list(),
                                .padding = options.padding.at_both_ends(),
                                .dilation = options.dilation.list(),
                                .groups = options.groups});
    if constexpr (!options.bias) return y;
    else return y + detail::of_channels(this->add_variable_input("bias", initial, {out_channels}, x.dtype()), y);
  }
};
template <int out_channels, PerAxis<1> kernel_size, ConvLayerOptions<1> options = {}>
using Conv1d = Conv<1, out_channels, kernel_size, options>;
template <int out_channels, PerAxis<2> kernel_size, ConvLayerOptions<2> options = {}>
using Conv2d = Conv<2, out_channels, kernel_size, options>;
template <int out_channels, PerAxis<3> kernel_size, ConvLayerOptions<3> options = {}>
using Conv3d = Conv<3, out_channels, kernel_size, options>;

/// Transposed convolution with a bias: ops::conv_transpose. x: (batch, in_channels, spatial axes), float16, bfloat16, float32 or
/// float64. Result: (batch, out_channels, spatial axes), of x's dtype; ops::conv_transpose states the extents. ConvTranspose1d,
/// ConvTranspose2d and ConvTranspose3d are the layers of torch.nn of these names.
///
/// Variables, of x's dtype, with PyTorch's shapes: `weight` (in_channels, out_channels / groups, kernel_size) and `bias`
/// (out_channels,). Initial values are PyTorch's: uniform within 1 / sqrt(out_channels / groups * elements of the kernel). groups
/// divides out_channels.
template <int axes, int out_channels, PerAxis<axes> kernel_size, ConvLayerOptions<axes> options = {}>
struct ConvTranspose : Module<ConvTranspose<axes, out_channels, kernel_size, options>> {
  constexpr Tensor build(Tensor x) {
    if (!detail::check_images(x, "ConvTranspose", axes, options.groups) ||
        !detail::check_channels(x, "ConvTranspose", axes, out_channels, options.groups))
      return Tensor::invalid(x.ir());
    const Shape shape = kernel_size.after(x.shape(1), out_channels / options.groups);
    const Initialiser initial = detail::within_root(shape.nelms() / x.shape(1));
    const Tensor y = ops::conv_transpose(x, this->add_variable_input("weight", initial, shape, x.dtype()),
                                         {.stride = options.stride.list(),
                                          .padding = options.padding.at_both_ends(),
                                          .dilation = options.dilation.list(),
                                          .groups = options.groups,
                                          .output_padding = options.output_padding.list()});
    if constexpr (!options.bias) return y;
    else return y + detail::of_channels(this->add_variable_input("bias", initial, {out_channels}, x.dtype()), y);
  }
};
template <int out_channels, PerAxis<1> kernel_size, ConvLayerOptions<1> options = {}>
using ConvTranspose1d = ConvTranspose<1, out_channels, kernel_size, options>;
template <int out_channels, PerAxis<2> kernel_size, ConvLayerOptions<2> options = {}>
using ConvTranspose2d = ConvTranspose<2, out_channels, kernel_size, options>;
template <int out_channels, PerAxis<3> kernel_size, ConvLayerOptions<3> options = {}>
using ConvTranspose3d = ConvTranspose<3, out_channels, kernel_size, options>;

}  // namespace tilewright::layers
