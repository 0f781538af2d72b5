#pragma once
// Convolutions over blocks of rows: IpuRules::expand_in_blocks.
#include <algorithm>
#include <type_traits>

#include "tilewright/ops/linear/conv_transpose.hpp"
#include "tilewright/ops/linear/row_blocks.hpp"

namespace tilewright::detail {

/// Returns the index of the axis of rows among the windows of images (N, C, rows, ...).
constexpr int row_axis(const Shape& images) { return 5 - images.rank; }

/// Returns the spec of images (N, C, rows, ...) of which each is divided into `blocks` images of `rows` rows.
constexpr TensorSpec block_of(TensorSpec images, std::int64_t blocks, std::int64_t rows) {
  images.shape[0] *= blocks;
  images.shape[2] = rows;
  return images;
}

/// Returns the windows as attributes with explicit numbers, and with the planner options of `others`.
constexpr WindowAttributes explicit_attributes(const kernel::Windows& windows, int axes, const WindowAttributes& others) {
  WindowAttributes result = others;
  result.pad_type = PadType::not_set;
  result.ceil_mode = 0;
  result.stride_count = result.dilation_count = static_cast<std::int8_t>(axes);
  result.padding_count = static_cast<std::int8_t>(2 * axes);
  for (int axis = 0; axis < axes; ++axis) {
    const kernel::Window& window = windows[3 - axes + axis];
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t end = (window.out - 1) * window.stride + window.span() - window.in - window.begin;
    result.stride[i] = static_cast<std::int32_t>(window.stride);
    result.dilation[i] = static_cast<std::int32_t>(window.dilation);
    result.padding[i] = static_cast<std::int32_t>(window.begin);
    result.padding[i + static_cast<std::size_t>(axes)] = static_cast<std::int32_t>(std::max<std::int64_t>(0, end));
  }
  return result;
}

/// Reduces windows along rows to those of one of `blocks` blocks of results, and returns the rows of the data that blocks read.
/// None (`rows` is 0) if the number of results is not a multiple of the blocks.
constexpr BlockRows take_block_of_results(kernel::Window& window, std::int64_t blocks) {
  if (window.out % blocks != 0) return {};
  window.out /= blocks;
  const BlockRows read{blocks, -window.begin, window.out * window.stride, (window.out - 1) * window.stride + window.span()};
  window.in = read.rows, window.begin = 0;
  return read;
}
/// Reduces windows along rows to those of one of `blocks` blocks of data, and returns the rows of the results whose windows
/// overlap blocks. None if the number of rows is not a multiple of the blocks, if the rows of a block are not a multiple of the
/// stride, or if no window of some block begins before it.
constexpr BlockRows take_block_of_data(kernel::Window& window, std::int64_t blocks) {
  if (window.in % blocks != 0 || window.in / blocks % window.stride != 0) return {};
  window.in /= blocks;
  const std::int64_t stride = window.stride, before = window.span() - 1 - window.begin;
  const std::int64_t first = before >= 0 ? -(before / stride) : (stride - 1 - before) / stride,
                     last = (window.in - 1 + window.begin) / stride;
  window.begin -= first * stride;
  if (last < first || window.begin < 0) return {};
  window.out = last - first + 1;
  return {blocks, first, window.in / stride, window.out};
}

/// The rule IpuRules::expand_in_blocks of D, a convolution or one of its gradients: blocks have rows of its result, or rows of dy
/// for the gradient of weights.
template <class D>
constexpr List<OpPart> in_blocks(std::span<const TensorSpec> operands, int, const PackedAttributes& packed, std::int64_t blocks) {
  const auto attributes = unpack<typename D::Attributes>(packed);
  kernel::Windows windows;
  if constexpr (std::is_same_v<D, Conv>) windows = windows_of(operands[0].shape, kernel_of(operands[1].shape), attributes);
  else if constexpr (std::is_same_v<D, ConvTranspose>)
    windows = transposed_windows(operands[0].shape, operands[1].shape, attributes);
  else windows = attributes.windows();
  constexpr bool makes_data = std::is_same_v<D, ConvDataGrad> || std::is_same_v<D, ConvTranspose>;
  kernel::Window& rows = windows.axes[row_axis(operands[0].shape)];
  const BlockRows read = makes_data ? take_block_of_data(rows, blocks) : take_block_of_results(rows, blocks);
  if (read.rows == 0) return {};
  PackedAttributes of_block;
  if constexpr (std::is_same_v<D, Conv>) of_block = pack(explicit_attributes(windows, operands[0].shape.rank - 2, attributes));
  else of_block = pack(WindowsAttributes::make(windows, attributes.groups, attributes.planner));
  BlockParts parts(operands.first(2));
  const int first = parts.blocks_of(0, read);
  if constexpr (std::is_same_v<D, ConvWeightsGrad>) {
    parts.add(op_info<D>, of_block, {first, parts.blocks_of(1, {blocks, 0, rows.out, rows.out})}, operands[2]);
  } else {  // a transposed convolution is a ConvDataGrad with explicit windows
    const OpInfo& op = std::is_same_v<D, ConvTranspose> ? op_info<ConvDataGrad> : op_info<D>;
    const TensorSpec result = block_of(operands[2], blocks, makes_data ? rows.in : rows.out);
    parts.images_of(parts.add(op, of_block, {first, 1}, result), operands[2]);
  }
  return parts.parts();
}

}  // namespace tilewright::detail
