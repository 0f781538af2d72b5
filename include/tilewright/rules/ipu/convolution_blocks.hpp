#pragma once
// Convolutions over blocks of rows: IpuRules::expand_in_blocks.
#include <algorithm>

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

/// Returns the attributes of a convolution with other windows.
constexpr PackedAttributes with_windows(const OpInfo& op, const PackedAttributes& packed, const kernel::Windows& windows,
                                        int axes) {
  if (&op == &op_info<Conv>) return pack(explicit_attributes(windows, axes, unpack<WindowAttributes>(packed)));
  const auto others = unpack<WindowsAttributes>(packed);
  return pack(WindowsAttributes::make(windows, others.groups, others.planner));
}

/// Returns the parts of a convolution of operand 0 with the weights, operand 1, over blocks of rows of its result, operand 2.
constexpr List<OpPart> convolution_blocks(const OpInfo& op, std::span<const TensorSpec> operands, kernel::Windows windows,
                                          const PackedAttributes& attributes, std::int64_t blocks) {
  kernel::Window& rows = windows.axes[row_axis(operands[0].shape)];
  const BlockRows read = take_block_of_results(rows, blocks);
  if (read.rows == 0) return {};
  BlockParts parts(operands.first(2));
  const int x = parts.blocks_of(0, read);
  const PackedAttributes packed = with_windows(op, attributes, windows, operands[0].shape.rank - 2);
  parts.images_of(parts.add(op, packed, {x, 1}, block_of(operands[2], blocks, rows.out)), operands[2]);
  return parts.parts();
}
/// Returns the parts of a convolution of operand 0 back to the data, operand 2, with the weights, operand 1, over blocks of rows
/// of the data.
constexpr List<OpPart> data_blocks(const OpInfo& op, std::span<const TensorSpec> operands, kernel::Windows windows,
                                   const PackedAttributes& attributes, std::int64_t blocks) {
  kernel::Window& rows = windows.axes[row_axis(operands[0].shape)];
  const BlockRows read = take_block_of_data(rows, blocks);
  if (read.rows == 0) return {};
  BlockParts parts(operands.first(2));
  const int dy = parts.blocks_of(0, read);
  const PackedAttributes packed = with_windows(op, attributes, windows, operands[0].shape.rank - 2);
  parts.images_of(parts.add(op, packed, {dy, 1}, block_of(operands[2], blocks, rows.in)), operands[2]);
  return parts.parts();
}
/// Returns the parts of the gradient of the weights, operand 2, from x and dy, operands 0 and 1, over blocks of rows of dy.
constexpr List<OpPart> weights_blocks(const OpInfo& op, std::span<const TensorSpec> operands, kernel::Windows windows,
                                      const PackedAttributes& attributes, std::int64_t blocks) {
  kernel::Window& rows = windows.axes[row_axis(operands[0].shape)];
  const BlockRows read = take_block_of_results(rows, blocks);
  if (read.rows == 0) return {};
  BlockParts parts(operands.first(2));
  const int x = parts.blocks_of(0, read), dy = parts.blocks_of(1, {blocks, 0, rows.out, rows.out});
  parts.add(op, with_windows(op, attributes, windows, operands[0].shape.rank - 2), {x, dy}, operands[2]);
  return parts.parts();
}

constexpr List<OpPart> conv_in_blocks(std::span<const TensorSpec> operands, int, const PackedAttributes& packed,
                                      std::int64_t blocks) {
  const auto windows = windows_of(operands[0].shape, kernel_of(operands[1].shape), unpack<WindowAttributes>(packed));
  return convolution_blocks(op_info<Conv>, operands, windows, packed, blocks);
}
/// Expands the op by ConvDataGrad, which computes the same result for explicit windows.
constexpr List<OpPart> conv_transpose_in_blocks(std::span<const TensorSpec> operands, int, const PackedAttributes& packed,
                                                std::int64_t blocks) {
  const auto attributes = unpack<ConvTransposeAttributes>(packed);
  const kernel::Windows windows = transposed_windows(operands[0].shape, operands[1].shape, attributes);
  return data_blocks(op_info<ConvDataGrad>, operands, windows,
                     pack(WindowsAttributes::make(windows, attributes.groups, attributes.planner)), blocks);
}
/// Expands D, an op with explicit windows, by the function for its parts.
template <class D, auto parts_of>
constexpr List<OpPart> in_blocks(std::span<const TensorSpec> operands, int, const PackedAttributes& packed, std::int64_t blocks) {
  return parts_of(op_info<D>, operands, unpack<WindowsAttributes>(packed).windows(), packed, blocks);
}

}  // namespace tilewright::detail
