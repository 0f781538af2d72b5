#pragma once
#include <algorithm>
#include <span>

#include "tilewright/ops/shape/slice.hpp"

namespace tilewright {

/// Blocks of rows of images (N, C, rows, ...): a view as (N, blocks, C, rows of a block, ...).
struct RowBlocks : Op<RowBlocks> {
  static constexpr std::string_view name = "RowBlocks";
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  struct Attributes {
    std::int64_t first = 0;  ///< row of the first block
    std::int64_t step = 1;  ///< rows from one block to the next
    std::int64_t blocks = 1, rows = 1;  ///< `rows` of a block; they lie in the images, and in one block only
  };
  static constexpr Shape shape_of(const Shape& images, const Attributes& attributes) {
    Shape result{images[0], attributes.blocks, images[1], attributes.rows};
    for (int axis = 3; axis < images.rank; ++axis) result.push_back(images[axis]);
    return result;
  }
  static constexpr void infer(Inference& op) {
    op.output({shape_of(op.input(0).shape, op.attributes<Attributes>()), op.input(0).dtype});
  }
  static constexpr Layout view(const Shape& images, const Layout& layout, const Shape&, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const auto& s = layout.strides;
    Layout result{layout.offset + attributes.first * s[2], {s[0], attributes.step * s[2], s[1], s[2]}};
    for (std::size_t axis = 3; axis < static_cast<std::size_t>(images.rank); ++axis) result.strides[axis + 1] = s[axis];
    return result;
  }
};

namespace detail {

/// Rows of each block: `rows` rows, which begin at `first` in block 0 and `step` rows later in each next block. Blocks may
/// overlap, or reach outside of the images.
struct BlockRows {
  std::int64_t blocks = 0, first = 0, step = 0, rows = 0;
};

/// Parts of a convolution over blocks of rows: a convolution in which each block of each image is a separate image. Its inputs
/// are copied into blocks, with the rows that neighbours share; its results are copied into images.
class BlockParts {
 public:
  constexpr explicit BlockParts(std::span<const TensorSpec> inputs) : tensors_(inputs.begin(), inputs.end()) {}

  /// Copies images (N, C, rows, ...) to (N blocks, C, rows of a block, ...), with zeros where rows are outside. Returns the
  /// number of the tensor.
  constexpr int blocks_of(int images, const BlockRows& of) {
    const TensorSpec source = tensors_[index(images)];
    const RowBlocks::Attributes block{.blocks = of.blocks, .rows = of.rows};
    const TensorSpec whole{RowBlocks::shape_of(source.shape, block), source.dtype};
    const List<Piece> pieces = pieces_of(of, source.shape[2]);
    std::int64_t covered = 0;
    for (const Piece& piece : pieces) covered += piece.blocks * piece.rows;
    const bool zeros = covered < of.blocks * of.rows;
    const int result = add({zeros ? &op_info<InitZero> : &op_info<InitUndefined>, pack(init_attributes(whole)), {}, {whole}});
    for (const Piece& piece : pieces) {
      const RowBlocks::Attributes from{piece.row, of.step, piece.blocks, piece.rows};
      const TensorSpec part{RowBlocks::shape_of(source.shape, from), source.dtype};
      auto to = SliceAttributes::of_all(whole.shape);
      to.take(1, piece.block, 1, piece.blocks);
      to.take(3, piece.row_of_block, 1, piece.rows);
      const int target = add({&op_info<SliceInplace>, pack(to), {result}, {part}});
      add({&op_info<CopyInto>, {}, {target, add({&op_info<RowBlocks>, pack(from), {images}, {part}})}, {part}});
    }
    return reshaped(result, merged(whole.shape));
  }
  /// Adds an op with the given result and returns the number of the tensor.
  constexpr int add(const OpInfo& op, const PackedAttributes& attributes, const List<int>& inputs, const TensorSpec& result) {
    return add({&op, attributes, inputs, {result}});
  }
  /// Copies blocks (N blocks, C, rows, ...) to the images that they form, which are the whole op's result.
  constexpr void images_of(int blocks, const TensorSpec& images) {
    const std::int64_t rows = tensors_[index(blocks)].shape[2], count = images.shape[2] / rows;
    const RowBlocks::Attributes where{0, rows, count, rows};
    const Shape split = RowBlocks::shape_of(images.shape, where);
    const int result = add({&op_info<InitUndefined>, pack(init_attributes(images)), {}, {images}});
    const int target = add({&op_info<RowBlocks>, pack(where), {result}, {{split, images.dtype}}});
    add({&op_info<CopyInto>, {}, {target, reshaped(blocks, split)}, {{split, images.dtype}}});
    add({&op_info<DetachInplace>, {}, {result}, {images}});
  }
  constexpr List<OpPart> parts() { return std::move(parts_); }

 private:
  /// Rows that lie in the images for some blocks, at equal positions in each: one copy.
  struct Piece {
    std::int64_t block = 0, blocks = 0;  ///< first block with these rows, and number of such blocks
    std::int64_t row_of_block = 0, rows = 0;
    std::int64_t row = 0;  ///< in the images: the first row of the first block
  };
  /// Returns all copies into the blocks of images with `rows` rows. The blocks of one copy share no rows.
  static constexpr List<Piece> pieces_of(const BlockRows& of, std::int64_t rows) {
    List<Piece> result;
    std::int64_t steps = 0;  // of the last piece: whole steps from the first row of the images to its row in block 0
    for (std::int64_t r = 0; r < of.rows; ++r) {
      const std::int64_t row = of.first + r, ahead = row >= 0 ? row / of.step : -((of.step - 1 - row) / of.step);
      const std::int64_t first = std::max<std::int64_t>(0, -ahead);
      const std::int64_t end = row >= rows ? 0 : (std::min)(of.blocks, (rows - 1 - row) / of.step + 1);
      if (end <= first) continue;
      Piece* const last = result.empty() ? nullptr : &result.back();
      if (last && steps == ahead && last->block == first && last->blocks == end - first && last->row_of_block + last->rows == r) {
        ++last->rows;
        continue;
      }
      result.push_back({first, end - first, r, 1, row + first * of.step});
      steps = ahead;
    }
    return result;
  }
  /// Returns (N blocks, ...) for (N, blocks, ...).
  static constexpr Shape merged(const Shape& blocks) {
    Shape result{blocks[0] * blocks[1]};
    for (int axis = 2; axis < blocks.rank; ++axis) result.push_back(blocks[axis]);
    return result;
  }
  constexpr int reshaped(int tensor, const Shape& shape) {
    const DType dtype = tensors_[index(tensor)].dtype;
    return add({&op_info<Reshape>, pack(axis_list(shape)), {tensor}, {{shape, dtype}}});
  }
  constexpr int add(OpPart&& part) {
    tensors_.push_back(part.outputs[0]);
    make_room(parts_);
    parts_.push_back(std::move(part));
    return static_cast<int>(tensors_.size()) - 1;
  }
  static constexpr std::size_t index(int tensor) { return static_cast<std::size_t>(tensor); }

  List<TensorSpec> tensors_;  ///< by number: the whole op's inputs, then the results of parts
  List<OpPart> parts_{};
};

}  // namespace detail

}  // namespace tilewright
