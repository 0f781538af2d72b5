#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "tilewright/ops/linear/conv_in_blocks.hpp"

namespace tilewright::detail {

/// Collects the ops that stand for a convolution. Tensors have numbers: the convolution's inputs, then the results of parts.
class BlockParts {
 public:
  constexpr explicit BlockParts(std::span<const TensorSpec> inputs) : tensors_(inputs.begin(), inputs.end()) {}

  constexpr const TensorSpec& spec(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)]; }
  /// Adds an op with the given result and returns the number of the tensor.
  constexpr int add(const OpInfo& op, const PackedAttributes& attributes, const List<int>& inputs, const TensorSpec result) {
    tensors_.push_back(result);
    make_room(parts_);
    parts_.push_back({&op, attributes, inputs, {result}});
    return static_cast<int>(tensors_.size()) - 1;
  }
  /// Adds a view of the tensor's elements in their order.
  constexpr int reshaped(int tensor, const Shape& shape) {
    return add(op_info<Reshape>, pack(axis_list(shape)), {tensor}, {shape, spec(tensor).dtype});
  }
  /// Adds a view of some elements of a tensor. `in_place`: through which they are written.
  constexpr int sliced(int tensor, const SliceAttributes& slice, bool in_place = false) {
    return add(in_place ? op_info<SliceInplace> : op_info<Slice>, pack(slice), {tensor},
               {slice.result_shape(spec(tensor).shape.rank), spec(tensor).dtype});
  }
  /// Adds a copy of a tensor.
  constexpr int copied(int tensor) {
    const TensorSpec of = spec(tensor);
    const int result = add(op_info<InitUndefined>, pack(init_attributes(of)), {}, of);
    add(op_info<CopyInto>, {}, {result, tensor}, of);
    return result;
  }
  /// Adds zeros of a spec, and copies the tensor to the elements `to` of them.
  constexpr int placed(int tensor, const SliceAttributes& to, const TensorSpec& whole) {
    const int result = add(op_info<InitZero>, pack(init_attributes(whole)), {}, whole);
    const int target = sliced(result, to, true);
    add(op_info<CopyInto>, {}, {target, tensor}, spec(target));
    return result;
  }
  /// Adds a view of the blocks of images (N, C, spatial...). Blocks may reach outside of the images, where they have zeros; then
  /// they are blocks of a copy.
  constexpr int blocks_of(int images, std::array<AxisBlocks, 3> axes) {
    const TensorSpec of = spec(images);
    TensorSpec padded = of;
    auto from = SliceAttributes::of_all(of.shape), to = from;
    bool has_zeros = false;
    for (int axis = 2; axis < of.shape.rank; ++axis) {
      AxisBlocks& blocks = axes[static_cast<std::size_t>(axis - 2)];
      const std::int64_t first = blocks.first, end = blocks.end(), extent = of.shape[axis];
      if (first >= 0 && end <= extent) continue;
      const std::int64_t begin = std::max<std::int64_t>(0, first), count = (std::min)(extent, end) - begin;
      has_zeros = true;
      from.take(axis, begin, 1, count), to.take(axis, begin - first, 1, count);
      padded.shape[axis] = end - first;
      blocks.first = 0;
    }
    if (has_zeros) images = placed(from.result_shape(of.shape.rank) == of.shape ? images : sliced(images, from), to, padded);
    const ImageBlocks::Attributes attributes{axes};
    return add(op_info<ImageBlocks>, pack(attributes), {images}, {ImageBlocks::shape_of(padded.shape, attributes), of.dtype});
  }
  /// Adds a view of results (N, C, blocks, extent, ...) as the images that they form, of which the last blocks may have more.
  constexpr void images_of(int blocks, const Shape& images) {
    Shape merged = images;
    const Shape shape = spec(blocks).shape;
    const int axes = axes_with_blocks(images.rank - 2);
    for (int axis = 2; axis < images.rank; ++axis)
      merged[axis] = axis - 2 < axes ? shape[2 * axis - 2] * shape[2 * axis - 1] : shape[axis + axes];
    const int whole = reshaped(blocks, merged);
    if (merged != images) sliced(whole, SliceAttributes::of_all(images));
  }
  constexpr List<OpPart> parts() { return std::move(parts_); }

 private:
  List<TensorSpec> tensors_;
  List<OpPart> parts_{};
};

}  // namespace tilewright::detail
