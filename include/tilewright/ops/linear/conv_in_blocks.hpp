#pragma once
// Convolutions whose images are divided along their spatial axes, as simulated IPUs compute them.
#include <algorithm>
#include <array>
#include <span>

#include "tilewright/ops/linear/conv.hpp"
#include "tilewright/ops/shape/slice.hpp"

namespace tilewright {

/// Blocks of one spatial axis: block b has `extent` elements from `first + b step` on. Blocks may overlap.
struct AxisBlocks {
  std::int32_t first = 0, step = 1, blocks = 1, extent = 1;

  static constexpr AxisBlocks make(std::int64_t first, std::int64_t step, std::int64_t blocks, std::int64_t extent) {
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(step), static_cast<std::int32_t>(blocks),
            static_cast<std::int32_t>(extent)};
  }
  /// Returns the position behind the last block.
  constexpr std::int64_t end() const { return first + std::int64_t{blocks - 1} * step + extent; }
};

namespace detail {
/// Returns how many of the spatial axes can have blocks: a shape has at most 6 axes.
constexpr int axes_with_blocks(int spatial_axes) { return spatial_axes > 2 ? 1 : spatial_axes; }
}  // namespace detail

/// Blocks of images (N, C, spatial...): a view as (N, C, blocks, extent, ...), with both for the first spatial axes (see
/// detail::axes_with_blocks). All blocks lie in the images.
struct ImageBlocks : Op<ImageBlocks> {
  static constexpr std::string_view name = "ImageBlocks";
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  struct Attributes {
    std::array<AxisBlocks, 3> axes{};  ///< from the first spatial axis on
  };
  static constexpr Shape shape_of(const Shape& images, const Attributes& attributes) {
    Shape result{images[0], images[1]};
    for (int axis = 2; axis < images.rank; ++axis) {
      const AxisBlocks& blocks = attributes.axes[static_cast<std::size_t>(axis - 2)];
      if (axis - 2 < detail::axes_with_blocks(images.rank - 2)) result.push_back(blocks.blocks);
      result.push_back(blocks.extent);
    }
    return result;
  }
  static constexpr void infer(Inference& op) {
    op.output({shape_of(op.input(0).shape, op.attributes<Attributes>()), op.input(0).dtype});
  }
  static constexpr Layout view(const Shape& images, const Layout& layout, const Shape&, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    Layout result{layout.offset, {layout.strides[0], layout.strides[1]}};
    std::size_t next = 2;
    for (int axis = 2; axis < images.rank; ++axis) {
      const AxisBlocks& blocks = attributes.axes[static_cast<std::size_t>(axis - 2)];
      const std::int64_t stride = layout.strides[static_cast<std::size_t>(axis)];
      result.offset += blocks.first * stride;
      if (axis - 2 < detail::axes_with_blocks(images.rank - 2)) result.strides[next++] = blocks.step * stride;
      result.strides[next++] = stride;
    }
    return result;
  }
};

namespace detail {

/// How a plan divides x (N, C, blocks, extent, ...), w (M, C / groups, kernel) and y (N, M, blocks, extent, ...) of a convolution
/// in blocks: along images, blocks and channels. Neighbours have the same blocks of x and other channels of y.
struct BlocksWork {
  Work work;
  int n, c = -1, m = -1;
  std::array<int, 3> blocks{-1, -1, -1};  ///< by spatial axis; -1: there is one block

  /// `images`: kind of the axes of images and blocks. If they are summed over, only images and the longest one are divided.
  constexpr BlocksWork(const Shape& x, const Shape& w, std::int64_t groups, WorkAxisKind images, WorkAxisKind m_kind,
                       WorkAxisKind c_kind)
      : n(work.add_axis({.extent = x[0], .kind = images})) {
    for (int axis = 2; axis < 2 + 2 * (x.rank - w.rank); axis += 2)
      if (x[axis] > 1) blocks[static_cast<std::size_t>(axis / 2 - 1)] = work.add_axis({.extent = x[axis], .kind = images});
    if (images == WorkAxisKind::reduction) {
      int longest = 0;
      for (int axis = 1; axis < work.axes.size(); ++axis)
        if (work.axes[axis].extent > work.axes[longest].extent) longest = axis;
      for (int axis = 0; axis < work.axes.size(); ++axis)
        if (axis != n && axis != longest) work.axes[axis].kind = WorkAxisKind::whole;
    }
    if (groups == 1) {
      c = work.add_axis({.extent = x[1], .kind = c_kind, .grain = 16});
      m = work.add_axis({.extent = w[0], .kind = m_kind, .grain = 16});
    } else if (x[1] == w[0]) {
      c = m = work.add_axis({.extent = w[0], .grain = w[1]});
    }
  }
  constexpr void follow(int x, int w, int y, std::int64_t groups) {
    for (const int images : {x, y}) {
      work.follow(images, 0, n);
      for (int i = 0; i < 3; ++i)
        if (const int axis = blocks[static_cast<std::size_t>(i)]; axis >= 0) work.follow(images, 2 + 2 * i, axis);
    }
    if (m < 0) return;
    work.follow(x, 1, c);
    work.follow(w, 0, m), work.follow(y, 1, m);
    if (groups == 1) work.follow(w, 1, c);
  }
};

}  // namespace detail

/// Base of convolutions in blocks and of their gradients. The windows are those of a block, and none begins before it.
template <class D>
struct ConvOpInBlocks : ConvOp<D, WindowsAttributes> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }

 protected:
  /// Returns images (N, channels, blocks, extent, ...) of the blocks of `blocks`. `data`: of those that windows have.
  static constexpr Shape images_of(const Shape& blocks, std::int64_t channels, int axes, const kernel::Windows& windows,
                                   bool data) {
    Shape result{blocks[0], channels};
    for (int axis = 0; axis < axes; ++axis) {
      const kernel::Window& window = windows[3 - axes + axis];
      if (axis < detail::axes_with_blocks(axes)) result.push_back(blocks[2 + 2 * axis]);
      result.push_back(data ? window.in : window.out);
    }
    return result;
  }
};

/// Convolution of blocks: inputs x (N, C, blocks, extent, ...) and weight (M, C / groups, kernel), result (N, M, blocks, extent,
/// ...).
struct ConvInBlocks : ConvOpInBlocks<ConvInBlocks> {
  static constexpr std::string_view name = "ConvInBlocks";
  static constexpr void infer(Inference& op) {
    const Shape &x = op.input(0).shape, &w = op.input(1).shape;
    op.output({images_of(x, w[0], w.rank - 2, op.attributes<Attributes>().windows(), false), op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::BlocksWork cut(operands[0].shape, operands[1].shape, groups, parallel, parallel, reduction);
    cut.follow(0, 1, 2, groups);
    return cut.work;
  }
  template <PackedAttributes A, class X, class W, class Y>
  static void compute(X x, W w, Y y);
  template <PackedAttributes A, class X, class W, class Y>
  static constexpr std::int64_t stack_bytes();
};

/// The gradient of the data of blocks: inputs dy (N, M, blocks, extent, ...), of all results whose windows overlap a block, and
/// weight; result dx (N, C, blocks, extent, ...).
struct ConvDataGradInBlocks : ConvOpInBlocks<ConvDataGradInBlocks> {
  static constexpr std::string_view name = "ConvDataGradInBlocks";
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const Shape& w = op.input(1).shape;
    op.output(
        {images_of(op.input(0).shape, w[1] * attributes.groups, w.rank - 2, attributes.windows(), true), op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::BlocksWork cut(operands[2].shape, operands[1].shape, groups, parallel, reduction, parallel);
    cut.follow(2, 1, 0, groups);
    return cut.work;
  }
  template <PackedAttributes A, class DY, class W, class DX>
  static void compute(DY dy, W w, DX dx);
  template <PackedAttributes A, class DY, class W, class DX>
  static constexpr std::int64_t stack_bytes();
};

/// The gradient of the weights of a convolution of blocks: inputs x and dy in blocks, result dw.
struct ConvWeightsGradInBlocks : ConvOpInBlocks<ConvWeightsGradInBlocks> {
  static constexpr std::string_view name = "ConvWeightsGradInBlocks";
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const kernel::Windows windows = attributes.windows();
    const Shape& x = op.input(0).shape;
    Shape result{op.input(1).shape[1], x[1] / attributes.groups};
    const int axes = x.rank == 4 ? 1 : windows[0] == kernel::Window{} ? 2 : 3;
    for (int axis = 3 - axes; axis < 3; ++axis) result.push_back(windows[axis].kernel);
    op.output({result, op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    using enum WorkAxisKind;
    const std::int64_t groups = unpack<Attributes>(packed).groups;
    detail::BlocksWork cut(operands[0].shape, operands[2].shape, groups, reduction, parallel, parallel);
    cut.follow(0, 2, 1, groups);
    return cut.work;
  }
  template <PackedAttributes A, class X, class DY, class DW>
  static void compute(X x, DY dy, DW dw);
  template <PackedAttributes A, class X, class DY, class DW>
  static constexpr std::int64_t stack_bytes();
};

}  // namespace tilewright
