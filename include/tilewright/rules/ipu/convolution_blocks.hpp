#pragma once
// Convolutions over blocks of images: IpuRules::expand_in_blocks.
#include <algorithm>
#include <type_traits>

#include "tilewright/ops/linear/conv_transpose.hpp"
#include "tilewright/rules/ipu/block_parts.hpp"
#include "tilewright/rules/ipu/ipu_rules.hpp"

namespace tilewright::detail {

/// Whether an op makes data of a convolution's results.
template <class D>
inline constexpr bool makes_data = std::is_same_v<D, ConvDataGrad> || std::is_same_v<D, ConvTranspose>;
template <class D>
inline constexpr bool makes_weights = std::is_same_v<D, ConvWeightsGrad>;

/// Returns the windows of D, a convolution or one of its gradients, for its operands.
template <class D>
constexpr kernel::Windows windows_of_op(std::span<const TensorSpec> operands, const typename D::Attributes& attributes) {
  if constexpr (std::is_same_v<D, Conv>) return windows_of(operands[0].shape, kernel_of(operands[1].shape), attributes);
  else if constexpr (std::is_same_v<D, ConvTranspose>)
    return transposed_windows(operands[0].shape, operands[1].shape, attributes);
  else return attributes.windows();
}

/// Windows of a block along an axis, and the blocks of the data and of the results.
struct BlockedAxis {
  kernel::Window window{};
  AxisBlocks data{}, results{};
  bool is_valid = false;
};
/// Leaves an axis in one block.
constexpr BlockedAxis one_block(const kernel::Window& window) {
  return {window, AxisBlocks::make(0, window.in, 1, window.in), AxisBlocks::make(0, window.out, 1, window.out), true};
}
/// Divides the results of windows into at most `blocks` blocks; the last one may have more than there are.
constexpr BlockedAxis blocks_of_results(const kernel::Window& window, std::int64_t blocks) {
  if (blocks == 1) return one_block(window);
  BlockedAxis result{.window = window, .is_valid = true};
  const std::int64_t extent = (window.out + blocks - 1) / blocks, count = (window.out + extent - 1) / extent;
  result.window.out = extent, result.window.begin = 0;
  result.window.in = (extent - 1) * window.stride + window.span();
  result.data = AxisBlocks::make(-window.begin, extent * window.stride, count, result.window.in);
  result.results = AxisBlocks::make(0, extent, count, extent);
  return result;
}
/// Divides the data of windows into at most `blocks` blocks of whole strides. The results of a block are those whose windows
/// overlap it. Not valid if there are none, or if no window of a block begins before it.
constexpr BlockedAxis blocks_of_data(const kernel::Window& window, std::int64_t blocks) {
  if (blocks == 1) return one_block(window);
  const std::int64_t stride = window.stride, strides = (window.in + stride - 1) / stride;
  const std::int64_t each = (strides + blocks - 1) / blocks, count = (strides + each - 1) / each;
  BlockedAxis result{.window = window};
  result.window.in = each * stride;
  const std::int64_t before = window.span() - 1 - window.begin;
  const std::int64_t first = before >= 0 ? -(before / stride) : (stride - 1 - before) / stride,
                     last = (result.window.in - 1 + window.begin) / stride;
  result.window.begin -= first * stride;
  if (last < first || result.window.begin < 0) return result;
  result.window.out = last - first + 1;
  result.is_valid = true;
  result.data = AxisBlocks::make(0, result.window.in, count, result.window.in);
  result.results = AxisBlocks::make(first, each, count, result.window.out);
  return result;
}

/// The parts of D as a product: a kernel of one element needs no axes of the image, so these become one. Data that are read at
/// strides are copied first. Empty if there is padding, a larger kernel, or groups.
template <class D>
constexpr List<OpPart> as_product(std::span<const TensorSpec> operands, const kernel::Windows& windows, std::int64_t groups,
                                  const PlannerAttributes& planner) {
  const Shape &weight = operands[makes_weights<D> ? 2 : 1].shape, &data = operands[makes_data<D> ? 2 : 0].shape;
  const int axes = data.rank - 2;
  auto read = SliceAttributes::of_all(data);
  bool has_strides = false;
  for (int axis = 0; axis < axes; ++axis) {
    const kernel::Window& window = windows[3 - axes + axis];
    if (window.kernel != 1 || window.begin != 0 || window.at(window.out - 1, 0) >= window.in) return {};
    has_strides = has_strides || window.in != window.out;
    read.take(2 + axis, 0, window.stride, window.out);
  }
  if (groups != 1) return {};
  BlockParts parts(operands.first(2));
  const auto places = [&](int images) {
    const Shape shape = parts.spec(images).shape;
    return parts.reshaped(images, {shape[0], shape[1], windows.out(), 1});
  };
  const auto weights = [&] { return parts.reshaped(1, {weight[0], weight[1], 1}); };
  const auto attributes = pack(WindowsAttributes::make({}, 1, planner));
  const DType dtype = operands[2].dtype;
  const int first = makes_data<D> || !has_strides ? 0 : parts.copied(parts.sliced(0, read));
  if constexpr (makes_weights<D>) {
    const int x = places(first), dy = places(1);
    parts.reshaped(parts.add(op_info<ConvWeightsGradInBlocks>, attributes, {x, dy}, {{weight[0], weight[1], 1}, dtype}), weight);
    return parts.parts();
  } else {
    const OpInfo& op = makes_data<D> ? op_info<ConvDataGradInBlocks> : op_info<ConvInBlocks>;
    const int of = places(first), w = weights();
    const Shape& result = operands[2].shape;
    const int product = parts.add(op, attributes, {of, w}, {{result[0], result[1], windows.out(), 1}, dtype});
    const Shape images = makes_data<D> ? read.result_shape(data.rank) : result;
    const int dense = parts.reshaped(product, images);
    if (images != result) {
      const int whole = parts.placed(dense, read, operands[2]);
      parts.add(op_info<DetachInplace>, {}, {whole}, operands[2]);
    }
    return parts.parts();
  }
}

/// The rule IpuRules::expand_in_blocks of D. Blocks have elements of its result; for the gradient of weights, of dy.
template <class D>
constexpr List<OpPart> in_blocks(std::span<const TensorSpec> operands, int, const PackedAttributes& packed, const ImageCut& cut) {
  const auto attributes = unpack<typename D::Attributes>(packed);
  kernel::Windows windows = windows_of_op<D>(operands, attributes);
  if (cut.is_product()) return as_product<D>(operands, windows, attributes.groups, attributes.planner);
  const int axes = operands[0].shape.rank - 2;
  std::array<AxisBlocks, 3> data{}, results{};
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    kernel::Window& window = windows.axes[3 - axes + axis];
    const BlockedAxis blocked = makes_data<D> ? blocks_of_data(window, cut.blocks[i]) : blocks_of_results(window, cut.blocks[i]);
    if (!blocked.is_valid) return {};
    window = blocked.window, data[i] = blocked.data, results[i] = blocked.results;
  }
  const auto of_block = pack(WindowsAttributes::make(windows, attributes.groups, attributes.planner));
  BlockParts parts(operands.first(2));
  const DType dtype = operands[2].dtype;
  if constexpr (makes_weights<D>) {
    const int x = parts.blocks_of(0, data), dy = parts.blocks_of(1, results);
    parts.add(op_info<ConvWeightsGradInBlocks>, of_block, {x, dy}, operands[2]);
  } else {
    const int images = parts.blocks_of(0, makes_data<D> ? results : data), w = parts.reshaped(1, operands[1].shape);
    const OpInfo& op = makes_data<D> ? op_info<ConvDataGradInBlocks> : op_info<ConvInBlocks>;
    const ImageBlocks::Attributes given{makes_data<D> ? data : results};
    parts.images_of(parts.add(op, of_block, {images, w}, {ImageBlocks::shape_of(operands[2].shape, given), dtype}),
                    operands[2].shape);
  }
  return parts.parts();
}

/// The rule IpuRules::convolution_form of D.
template <class D>
constexpr ConvolutionForm form_of_convolution(const PackedAttributes& packed) {
  ConvolutionForm form{.sums_positions = makes_weights<D> || std::is_same_v<D, ConvWeightsGradInBlocks>};
  if constexpr (std::is_same_v<D, ConvDataGrad> || std::is_same_v<D, ConvDataGradInBlocks>) {
    const kernel::Windows windows = unpack<typename D::Attributes>(packed).windows();
    for (int axis = 0; axis < 3; ++axis) form.spacing[axis] = windows[axis].stride;
  }
  return form;
}

}  // namespace tilewright::detail
