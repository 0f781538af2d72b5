#pragma once
// Poolings whose images are divided along their spatial axes, as simulated IPUs compute them.
#include "tilewright/ops/linear/conv_in_blocks.hpp"
#include "tilewright/ops/nn/pool.hpp"

namespace tilewright {

struct PoolBlocksAttributes {
  WindowsAttributes windows{};  ///< of whole images
  std::array<AxisBlocks, 3> elements{}, results{}, gradient{};  ///< by spatial axis; the last ones may have one block only
  std::int32_t axes = 2;  ///< spatial axes
  std::int32_t channels = 1;  ///< of a vertex, or a multiple of it

  constexpr kernel::PoolBlocks blocks() const {
    kernel::PoolBlocks result{.windows = windows.windows(), .axes = axes};
    for (int axis = 0; axis < detail::axes_with_blocks(axes); ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      const auto begins = [](const AxisBlocks& of) { return kernel::BlockBegins{of.first, of.step}; };
      const int at = 3 - axes + axis;
      result.elements[at] = begins(elements[i]), result.results[at] = begins(results[i]);
      result.gradient[at] = begins(gradient[i]);
    }
    return result;
  }
};

/// The pooling or gradient of a pooling D of blocks: inputs and result (N, C, blocks, extent, ...). Inputs have the elements
/// around a block that its windows need. Vertices get positions to know their blocks.
template <class D>
struct PoolInBlocks : Op<PoolInBlocks<D>> {
  static constexpr std::string_view name = D::name;
  using Attributes = PoolBlocksAttributes;
  static constexpr bool is_gradient = std::is_same_v<typename D::Attributes, PoolGradAttributes>;
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator VertexCost() const { return op_info<D>.vertex_cost; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }

  static constexpr void infer(Inference& op) {
    const auto attributes = op.template attributes<Attributes>();
    const TensorSpec& in = op.input(0);
    Shape images = in.shape;
    images.rank = 2 + attributes.axes;
    const Shape result = ImageBlocks::shape_of(images, {is_gradient ? attributes.gradient : attributes.results});
    op.output({result, is_gradient ? PoolGradAttributes{.windows = attributes.windows}.result_dtype(in.dtype) : in.dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& shape = operands.back().shape;
    Work work;
    const auto add = [&](int axis, std::int64_t grain) {
      const int added = work.add_axis({.extent = shape[axis], .grain = grain});
      for (std::size_t o = 0; o < operands.size(); ++o) work.follow(static_cast<int>(o), axis, added);
    };
    add(0, 1);
    add(1, attributes.channels);
    for (int axis = 0; axis < detail::axes_with_blocks(attributes.axes); ++axis) add(2 + 2 * axis, 1);
    return work;
  }
  template <PackedAttributes A, class... V>
  static void compute(V... views);
};

}  // namespace tilewright
