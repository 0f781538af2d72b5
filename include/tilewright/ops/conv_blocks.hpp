#pragma once
// Convolutions over blocks of rows: what the hook expand_in_blocks of the ops gives.
#include <algorithm>

#include "tilewright/ops/row_blocks.hpp"
#include "tilewright/ops/window.hpp"

namespace tilewright::detail {

/// The place among the windows of the rows of images (N, C, rows, ...).
constexpr int row_axis(const Shape& images) { return 5 - images.rank; }

/// The windows as attributes that give each number, with the planner's options of others.
constexpr WindowAttributes explicit_attributes(const Windows& windows, int axes, const WindowAttributes& others) {
  WindowAttributes result = others;
  result.pad_type = PadType::not_set;
  result.ceil_mode = 0;
  result.stride_count = result.dilation_count = static_cast<std::int8_t>(axes);
  result.padding_count = static_cast<std::int8_t>(2 * axes);
  for (int axis = 0; axis < axes; ++axis) {
    const Window& window = windows[3 - axes + axis];
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t end = (window.out - 1) * window.stride + window.span() - window.in - window.begin;
    result.stride[i] = static_cast<std::int32_t>(window.stride);
    result.dilation[i] = static_cast<std::int32_t>(window.dilation);
    result.padding[i] = static_cast<std::int32_t>(window.begin);
    result.padding[i + static_cast<std::size_t>(axes)] = static_cast<std::int32_t>(std::max<std::int64_t>(0, end));
  }
  return result;
}

/// The convolution of operand 0 with the weights, operand 1, over so many blocks of rows of its result, operand 2: by `op`, whose
/// attributes `pack_windows` gives for windows. None, if the rows are no multiple of the blocks.
constexpr List<OpPart> convolution_blocks(std::span<const TensorSpec> operands, Windows windows, std::int64_t blocks,
                                          const OpInfo& op, auto pack_windows) {
  Window& rows = windows.axes[row_axis(operands[0].shape)];
  if (rows.out % blocks != 0) return {};
  rows.out /= blocks;
  BlockParts parts(operands.first(2));
  const BlockRows read{blocks, -rows.begin, rows.out * rows.stride, (rows.out - 1) * rows.stride + rows.span()};
  const int x = parts.blocks_of(0, read);
  rows.in = read.rows, rows.begin = 0;
  TensorSpec result = operands[2];
  result.shape[0] *= blocks, result.shape[2] = rows.out;
  parts.images_of(parts.add(op, pack_windows(windows), {x, 1}, result), operands[2]);
  return parts.parts();
}
/// The convolution of operand 0 back to the data, operand 2, over so many blocks of rows of the data. None, if the rows are no
/// multiple of the blocks, or those of a block no multiple of the stride, or if windows do not meet the padding.
constexpr List<OpPart> data_blocks(std::span<const TensorSpec> operands, Windows windows, std::int64_t blocks, const OpInfo& op,
                                   auto pack_windows) {
  Window& rows = windows.axes[row_axis(operands[0].shape)];
  if (rows.in % blocks != 0 || rows.in / blocks % rows.stride != 0) return {};
  rows.in /= blocks;
  // results whose windows have rows of the first block
  const std::int64_t before = rows.span() - 1 - rows.begin,
                     first = before >= 0 ? -(before / rows.stride) : (rows.stride - 1 - before) / rows.stride;
  const std::int64_t last = (rows.in - 1 + rows.begin) / rows.stride;
  const std::int64_t step = rows.in / rows.stride;
  rows.begin -= first * rows.stride;
  if (last < first || rows.begin < 0) return {};
  rows.out = last - first + 1;
  BlockParts parts(operands.first(2));
  const int dy = parts.blocks_of(0, {blocks, first, step, rows.out});
  TensorSpec result = operands[2];
  result.shape[0] *= blocks, result.shape[2] = rows.in;
  parts.images_of(parts.add(op, pack_windows(windows), {dy, 1}, result), operands[2]);
  return parts.parts();
}
/// The gradient of the weights, operand 2, of operands x and dy, over so many blocks of rows of dy. None, if the rows are no
/// multiple of the blocks.
constexpr List<OpPart> weights_blocks(std::span<const TensorSpec> operands, Windows windows, std::int64_t blocks,
                                      const OpInfo& op, auto pack_windows) {
  Window& rows = windows.axes[row_axis(operands[0].shape)];
  if (rows.out % blocks != 0) return {};
  rows.out /= blocks;
  BlockParts parts(operands.first(2));
  const BlockRows read{blocks, -rows.begin, rows.out * rows.stride, (rows.out - 1) * rows.stride + rows.span()};
  const int x = parts.blocks_of(0, read), dy = parts.blocks_of(1, {blocks, 0, rows.out, rows.out});
  rows.in = read.rows, rows.begin = 0;
  parts.add(op, pack_windows(windows), {x, dy}, operands[2]);
  return parts.parts();
}

/// The attributes of ops that have their windows as such.
constexpr auto packed_windows(const WindowsAttributes& others) {
  return [&others](const Windows& windows) { return pack(WindowsAttributes::make(windows, others.groups, others.planner)); };
}

}  // namespace tilewright::detail
