#pragma once
#include "tilewright/ops/linear/conv.hpp"

namespace tilewright {

/// Options of a transposed convolution. Lists have one number for each spatial axis. `padding` has two for each: first those of
/// all beginnings, then those of all ends. An empty list means ones, or for padding and output_padding zeros.
struct ConvTransposeOptions {
  List<std::int64_t> stride{};  ///< distance between neighbouring windows, in elements
  List<std::int64_t> padding{};  ///< elements removed from the result at its beginnings and ends
  List<std::int64_t> dilation{};  ///< distance between neighbouring elements of the kernel
  std::int64_t groups = 1;  ///< number of groups of channels, each of which is convolved separately
  PadType pad_type = PadType::not_set;  ///< if set, it determines the padding, as ONNX's auto_pad
  List<std::int64_t> output_padding{};  ///< elements added at the end of the result
  List<std::int64_t> output_shape{};  ///< extents of the result, spatial or all; they determine the padding
  List<double> available_memory_proportions{};  ///< from 0 to 1: as in MatMulOptions
  List<DType> partials_types{};  ///< float16 or float32: dtype of partial sums, as in MatMulOptions
  detail::NoEffect<List<bool>> enable_conv_dithering{};  ///< deprecated: it has no effect
};

struct ConvTransposeAttributes : WindowAttributes {
  std::array<std::int32_t, 3> output_padding{};
  std::array<std::int32_t, 5> output_shape{};
  std::int8_t output_padding_count = 0, output_shape_count = 0;
  std::array<std::int8_t, 6> unused{};
};

namespace detail {
/// Returns the windows of the convolution whose gradient of data this op is: x is its result, and the result is its data.
constexpr kernel::Windows transposed_windows(const Shape& x, const Shape& weight, const ConvTransposeAttributes& attributes) {
  const Shape kernel = kernel_of(weight);
  kernel::Windows result;
  for (int axis = 0; axis < kernel.rank; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    kernel::Window& window = result.axes[3 - kernel.rank + axis];
    window.out = x[2 + axis];
    window.kernel = kernel[axis];
    if (attributes.stride_count > 0) window.stride = attributes.stride[i];
    if (attributes.dilation_count > 0) window.dilation = attributes.dilation[i];
    std::int64_t full = (window.out - 1) * window.stride + window.span();
    if (attributes.output_padding_count > 0) full += attributes.output_padding[i];
    const bool is_same = attributes.pad_type == PadType::same_upper || attributes.pad_type == PadType::same_lower;
    if (attributes.output_shape_count > 0 || is_same) {
      window.in = attributes.output_shape_count > 0
                      ? attributes.output_shape[i + static_cast<std::size_t>(attributes.output_shape_count - kernel.rank)]
                      : window.out * window.stride;
      const std::int64_t total = std::max<std::int64_t>(full - window.in, 0);
      window.begin = attributes.pad_type == PadType::same_upper ? total / 2 : total - total / 2;
    } else {
      window.in = full;
      if (attributes.pad_type == PadType::not_set && attributes.padding_count > 0) {
        window.begin = attributes.padding[i];
        window.in -= window.begin + attributes.padding[i + static_cast<std::size_t>(kernel.rank)];
      }
    }
  }
  return result;
}
}  // namespace detail

/// Transposed convolution: inputs (x, weight).
struct ConvTranspose : ConvOp<ConvTranspose, ConvTransposeAttributes> {
  static constexpr std::string_view name = "ConvTranspose";

  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &weight = op.input(1);
    const Attributes attributes = op.attributes<Attributes>();
    if (!op.require_floating_point(0) || !op.require_equal_dtypes(0, 1) || !detail::check_ranks(op, x.shape, weight.shape))
      return;
    const std::int64_t groups = attributes.groups;
    if (groups < 1 || x.shape[1] % groups != 0)
      return op.fail(groups, " groups of ", x.shape[1], " channels: a divisor expected");
    if (weight.shape[0] != x.shape[1])
      return op.fail("weight ", to_text(weight.shape), " for ", to_text(x.shape), ": ", x.shape[1],
                     " channels along axis 0 of the weight expected");
    if (!attributes.planner.validate(op) || !validate(op, attributes)) return;
    const kernel::Windows windows = detail::transposed_windows(x.shape, weight.shape, attributes);
    const int axes = x.shape.rank - 2;
    Shape result{x.shape[0], weight.shape[1] * groups};
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t extent = windows[3 - axes + axis].in;
      if (extent < 1)
        return op.fail(to_text(x), " with a kernel of ", to_text(detail::kernel_of(weight.shape)), ": axis ",
                       std::int64_t{axis} + 2, " gets ", extent, " elements, at least 1 expected");
      result.push_back(extent);
    }
    if (attributes.output_shape_count == x.shape.rank &&
        (attributes.output_shape[0] != result[0] || attributes.output_shape[1] != result[1]))
      return op.fail("output_shape ", detail::to_text({attributes.output_shape.data(), std::size_t(x.shape.rank)}), ": ",
                     result[0], " and ", result[1], " for samples and channels expected");
    op.output({result, x.dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    const Attributes attributes = op.attributes<Attributes>();
    const auto windows = WindowsAttributes::make(
        detail::transposed_windows(op.input_spec(0).shape, op.input_spec(1).shape, attributes), attributes.groups,
        attributes.planner);
    if (op.needs(0)) op.input_gradient(0, apply<ConvTransposeDataGrad>({op.output_gradient(0), op.input(1)}, windows));
    if (op.needs(1)) op.input_gradient(1, apply<ConvWeightsGrad>({op.output_gradient(0), op.input(0)}, windows));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    return detail::transposed_work(operands, unpack<Attributes>(packed).groups);
  }
  template <PackedAttributes A, class X, class W, class Y>
  static void compute(X x, W w, Y y);
  template <PackedAttributes A, class X, class W, class Y>
  static constexpr std::int64_t stack_bytes();

 private:
  static constexpr bool validate(Inference& op, const Attributes& attributes) {
    const Shape& x = op.input(0).shape;
    const int axes = x.rank - 2;
    if (!detail::check_lists(op, x, attributes) ||
        !detail::check_list(op, x, "output_padding", attributes.output_padding, attributes.output_padding_count, axes, 0))
      return false;
    if (attributes.output_shape_count != x.rank &&
        !detail::check_list(op, x, "output_shape", attributes.output_shape, attributes.output_shape_count, axes, 1))
      return false;
    if (attributes.output_shape_count > 0 && attributes.pad_type == PadType::valid)
      return op.fail("output_shape with pad_type valid, which has no padding: another pad_type expected"), false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(attributes.output_padding_count); ++axis) {
      const std::int32_t stride = attributes.stride_count > 0 ? attributes.stride[axis] : 1,
                         dilation = attributes.dilation_count > 0 ? attributes.dilation[axis] : 1;
      if (attributes.output_padding[axis] >= (std::max)(stride, dilation))
        return op.fail("output_padding ", std::int64_t{attributes.output_padding[axis]}, " for a stride of ",
                       std::int64_t{stride}, " and a dilation of ", std::int64_t{dilation},
                       ": less than the stride or the dilation expected"),
               false;
    }
    return true;
  }
};

namespace detail {
constexpr ConvTransposeAttributes transposed_attributes(const ConvTransposeOptions& options) {
  ConvTransposeAttributes attributes{window_attributes(options)};
  WindowAttributes::set(attributes.output_padding, attributes.output_padding_count, options.output_padding);
  WindowAttributes::set(attributes.output_shape, attributes.output_shape_count, options.output_shape);
  return attributes;
}
}  // namespace detail

namespace ops {
/// Transposed convolution, the gradient of a convolution's data, as PyTorch's conv_transpose: each element of x adds the kernel
/// times itself to the result, at `stride` times its position. x: (N, C, spatial...) with 1 to 3 spatial axes, float16, bfloat16,
/// float32 or float64; weight: (C, M / groups, kernel...), the same dtype. Result: (N, M, spatial...) with (in - 1) stride +
/// (kernel - 1) dilation + 1 + output_padding - padding elements along each spatial axis. `output_shape` sets the result's shape,
/// and padding is computed from it by ONNX's rule: half on each side, the odd element at the end for same_upper, otherwise at the
/// beginning. If no padding leads to the shape, zeros are added at the end. With pad_type same_upper or same_lower, the result
/// has in stride elements. Half precision is summed in float32. Gradients: of x, a convolution, and of weight. Errors: lists of a
/// wrong length, numbers out of range, groups that do not divide the channels, an output_padding of at least both stride and
/// dilation, output_shape with pad_type valid, a result without elements.
///
///     y = ops::conv_transpose(x, weight, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
[[nodiscard]] constexpr Tensor conv_transpose(Tensor x, Tensor weight, const ConvTransposeOptions& options = {}) {
  return apply<ConvTranspose>({x, weight}, detail::transposed_attributes(options));
}
}  // namespace ops

}  // namespace tilewright
