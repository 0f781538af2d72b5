#pragma once
// Poolings of blocks of images: their rules IpuRules::expand and IpuRules::window_form.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/ops/nn/pool_in_blocks.hpp"
#include "tilewright/rules/ipu/convolution_blocks.hpp"
#include "tilewright/target/ipu_exchange_cycles.hpp"
#include "tilewright/target/ipu_reduction_cycles.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::detail {

template <class D>
inline constexpr bool takes_maxima = D::name.starts_with("Max");
template <class D>
inline constexpr bool is_pool_gradient = D::name.ends_with("Grad");

/// Returns the loops of the pooling D, or of its gradient, with these windows.
template <class D>
constexpr WindowForm window_form_of(const kernel::Windows& windows) {
  WindowForm form{.start = PoolVertex{}.start, .loop_start = PoolVertex{}.loop_start};  // of a maximum
  if (!takes_maxima<D>) form.start = 42, form.loop_start = 5;
  if constexpr (!is_pool_gradient<D>) {
    form.terms = windows.kernel();
    return form;
  }
  if (takes_maxima<D>) form.start = 51, form.loop_start = 7;
  form.terms = windows[2].kernel;
  form.spacing = windows[2].out == 1 ? windows[2].in : windows[2].stride;
  for (const kernel::Window* axis : {&windows.axes[0], &windows.axes[1]})
    form.terms *= (std::min)(axis->out, ceil_divide(axis->kernel, axis->stride));
  return form;
}
/// The rule IpuRules::window_form of D.
template <class D>
constexpr WindowForm form_of_pool(const PackedAttributes& packed) {
  const auto attributes = unpack<typename D::Attributes>(packed);
  if constexpr (std::is_same_v<typename D::Attributes, PoolAttributes>) {
    kernel::Windows windows;
    const Shape kernel = attributes.kernel_size();
    for (int axis = 0; axis < kernel.rank; ++axis) windows.axes[axis].kernel = kernel[axis];
    return window_form_of<D>(windows);
  } else {
    return window_form_of<D>(attributes.windows.windows());
  }
}
/// Returns the vertex of a pooling whose block of the result has these extents.
constexpr PoolVertex pool_vertex(const WindowForm& form, const LoopCost& loop, std::int64_t rows, std::int64_t columns,
                                 std::int64_t channels, std::int64_t vector_width) {
  return {.rows = rows,
          .columns = columns,
          .vectors = ceil_divide(channels, vector_width),
          .terms = form.terms,
          .spacing = form.spacing,
          .start = form.start,
          .loop_start = form.loop_start,
          .cycles = loop.cycles};
}

/// Searches for the blocks and channels of vertices with which the pooling D takes the fewest cycles on a simulated IPU.
template <class D>
class PoolSearch {
 public:
  constexpr PoolSearch(std::span<const TensorSpec> operands, const kernel::Windows& windows, const Target& target)
      : operands_(operands),
        shape_(operands.back().shape),
        windows_(windows),
        tiles_(target.tiles),
        model_(*target.ipu),
        axes_(shape_.rank - 2),
        width_(model_.vector_width(operands[0].dtype)),
        form_(window_form_of<D>(windows)) {}

  /// Returns whether blocks save a quarter of the cycles of whole images. They must, because the cost of copies is an estimate.
  constexpr bool run() {
    for (const kernel::Window& window : windows_.axes)
      if ((std::max)(window.in, window.out) > (std::numeric_limits<std::int32_t>::max)()) return false;
    consider(1, 1, 1);
    cycles_ = 3 * cycles_ / 4;
    is_found_ = false;
    for (std::int64_t channels = width_; channels < shape_[1] + width_; channels *= 2) {
      const std::int64_t left = parts_of(channels).left, rows = (std::min)(shape_[2], left);
      for (std::int64_t r = 1; r <= rows; r = r < rows ? (std::min)(rows, r + 1 + r / 4) : rows + 1) {
        consider(channels, r, 1);
        if (axes_ == 2 && left / r > 1) consider(channels, r, (std::min)(shape_[3], left / r));
      }
    }
    return is_found_;
  }
  constexpr const PoolBlocksAttributes& best() const { return best_; }

 private:
  using Axes = std::array<AxisBlocks, 3>;
  /// Images and channels of a vertex, and the tiles that are left for each of their blocks.
  struct Parts {
    std::int64_t images = 1, channels = 1, left = 1;
  };

  /// Divides images and channels as `partition` does.
  constexpr Parts parts_of(std::int64_t channels) const {
    Parts parts;
    parts.images = ceil_divide(shape_[0], (std::min)(shape_[0], tiles_));
    const std::int64_t left = tiles_ / ceil_divide(shape_[0], parts.images), groups = ceil_divide(shape_[1], channels);
    parts.channels = (std::min)(shape_[1], ceil_divide(groups, (std::min)(groups, left)) * channels);
    parts.left = left / ceil_divide(shape_[1], parts.channels);
    return parts;
  }
  constexpr void consider(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
    PoolBlocksAttributes cut{.windows = WindowsAttributes::make(windows_),
                             .axes = axes_,
                             .channels = static_cast<std::int32_t>((std::min)(channels, shape_[1]))};
    for (int axis = 0; axis < axes_; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      const kernel::Window& window = windows_[3 - axes_ + axis];
      const std::int64_t count = axis >= axes_with_blocks(axes_) ? 1 : axis == 0 ? rows : columns;
      const BlockedAxis blocked = is_pool_gradient<D> ? blocks_of_data(window, count) : blocks_of_results(window, count);
      if (!blocked.is_valid) return;
      cut.elements[i] = blocked.data, cut.results[i] = blocked.results;
      if constexpr (is_pool_gradient<D>) {
        cut.gradient[i] = blocked.data;
        if (count > 1)
          cut.elements[i] = AxisBlocks::make(blocked.results.first * window.stride - window.begin,
                                             blocked.results.step * window.stride, blocked.data.blocks,
                                             (blocked.results.extent - 1) * window.stride + window.span());
      }
    }
    const std::int64_t cycles = cycles_of(cut, parts_of(channels));
    if (cycles_ > 0 && cycles >= cycles_) return;
    best_ = cut, cycles_ = cycles, is_found_ = true;
  }
  /// Returns the cycles of a vertex and its exchange, and those of copies of images beyond which blocks go.
  constexpr std::int64_t cycles_of(const PoolBlocksAttributes& cut, const Parts& parts) const {
    std::int64_t rows = parts.images, bytes = 0, copies = 0;
    const Axes& own = is_pool_gradient<D> ? cut.gradient : cut.results;
    for (int axis = 0; axis + 1 < axes_; ++axis) rows *= own[static_cast<std::size_t>(axis)].extent;
    const auto add = [&](const TensorSpec& images, const Axes& blocks) {
      std::int64_t block = parts.images * parts.channels, padded = images.shape[0] * images.shape[1];
      bool goes_beyond = false;
      for (int axis = 0; axis < axes_; ++axis) {
        const AxisBlocks& of = blocks[static_cast<std::size_t>(axis)];
        goes_beyond = goes_beyond || of.first < 0 || of.end() > images.shape[2 + axis];
        block *= of.extent, padded *= of.end() - of.first;
      }
      bytes += block * size_of(images.dtype);
      if (!goes_beyond) return;
      const std::int64_t copied = ceil_divide(padded, tiles_), element_bytes = size_of(images.dtype);
      copies += 3 * model_.sync_cycles + phase(copied * element_bytes) + copy_cycles(model_, copied * element_bytes) +
                fill_cycles(model_, images.dtype, copied);
    };
    if constexpr (takes_maxima<D> || !is_pool_gradient<D>) add(operands_[0], cut.elements);
    if constexpr (is_pool_gradient<D>) add(operands_[takes_maxima<D> ? 1 : 0], cut.results);
    const PoolVertex vertex = pool_vertex(form_, op_info<D>.vertex_cost.float16, rows,
                                          own[static_cast<std::size_t>(axes_ - 1)].extent, parts.channels, width_);
    return pool_cycles(model_, vertex) + phase(bytes) + copies;
  }
  constexpr std::int64_t phase(std::int64_t bytes) const { return payload_cycles(model_, {.in = bytes}) + model_.hop_cycles; }

  std::span<const TensorSpec> operands_;
  Shape shape_;  // of the result
  kernel::Windows windows_;
  std::int64_t tiles_;
  const IpuModel& model_;
  int axes_;
  std::int64_t width_;  // of a vector of channels
  WindowForm form_;
  PoolBlocksAttributes best_{};
  std::int64_t cycles_ = 0;  // of the best one; 0: none yet
  bool is_found_ = false;
};

/// The rule IpuRules::expand of the pooling or gradient D.
template <class D>
constexpr List<OpPart> pool_in_blocks(std::span<const TensorSpec> operands, int inputs, const PackedAttributes& packed,
                                      const Target& target) {
  const auto attributes = unpack<typename D::Attributes>(packed);
  const TensorSpec& result = operands.back();
  if (result.shape.nelms() == 0 || operands[0].shape.nelms() == 0) return {};
  kernel::Windows windows;
  if constexpr (is_pool_gradient<D>) {
    windows = attributes.windows.windows();
    if (!attributes.gaps().none()) return {};
  } else {
    windows = windows_of(operands[0].shape, attributes.kernel_size(), attributes.windows);
    if (!attributes.gaps(result.shape.rank - 2).none()) return {};
  }
  PoolSearch<D> search(operands, windows, internal::without_io_tiles(target));
  if (!search.run()) return {};
  const PoolBlocksAttributes& cut = search.best();
  BlockParts parts(operands.first(static_cast<std::size_t>(inputs)));
  List<int> blocks;
  if constexpr (takes_maxima<D> || !is_pool_gradient<D>) blocks.push_back(parts.blocks_of(0, cut.elements));
  if constexpr (is_pool_gradient<D>) blocks.push_back(parts.blocks_of(takes_maxima<D> ? 1 : 0, cut.results));
  const ImageBlocks::Attributes own{is_pool_gradient<D> ? cut.gradient : cut.results};
  const int computed = parts.add(op_info<PoolInBlocks<D>>, pack(cut), blocks,
                                 {ImageBlocks::shape_of(result.shape, own), result.dtype});
  parts.images_of(computed, result.shape);
  return parts.parts();
}

}  // namespace tilewright::detail
