#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/lower/products/product_blocks.hpp"

namespace tilewright::internal {

namespace detail {

/// Blocks are used if they save at least a quarter of the cycles of a convolution, because the cost of copies is an
/// estimate. The plan of the benchmarks' CNN for a simulated IPU depends on it.
inline constexpr double most_cycles_in_blocks = 0.75;
/// Cycles that a network may take longer for each piece less that a tile receives: a piece needs code, and a tile has the code of
/// all steps all the time. An estimate. [3 and 9: inference of ResNet-50]
inline constexpr std::int64_t cycles_of_piece = 7;
/// Pieces whose code, 1.5 KB, a tile has room for even in a network of dozens of convolutions. [256: inference of ResNet-50]
inline constexpr std::int64_t few_pieces = 128;

/// Searches for the parts of images over which a convolution takes the fewest cycles on a simulated IPU.
class ConvolutionBlocks {
 public:
  constexpr ConvolutionBlocks(const Target& target, ProductPartitions& partitions) : target_(target), partitions_(partitions) {}

  /// Returns the parts of a convolution over parts of images, or none if it is planned with whole ones.
  constexpr List<OpPart> find(const OpInfo& op, std::span<const TensorSpec> operands, const PackedAttributes& attributes) {
    const IpuRules& rules = ipu_rules_of(op);
    if (rules.expand_in_blocks == nullptr || operands.size() != 3) return {};
    List<OpPart> best = rules.expand_in_blocks(operands, 2, attributes, ImageCut{});
    const bool sums_images = form_of(op, attributes).sums_positions;
    const ProductPartition whole = partition_of(op, operands, attributes).part;
    if (!best.empty()) {
      const Estimate of_product = estimate(best, operands);
      if (whole.fits && (!of_product.fits || of_product.cost() > whole.cycles.total())) return {};
      return best;
    }
    if (whole.fits && !sums_images && 2 * whole.tiles() > partitions_.machine().tiles) return {};
    double best_cycles = most_cycles_in_blocks * static_cast<double>(whole.cycles.total());
    bool best_fits = whole.fits;
    std::int64_t best_blocks = 0;
    const auto consider = [&](std::int64_t blocks) {
      const ImageCut cut = cut_of(operands, blocks, sums_images);
      List<OpPart> parts = rules.expand_in_blocks(operands, 2, attributes, cut);
      if (parts.empty()) return;
      const Estimate of_parts = estimate(parts, operands);
      const auto cycles = static_cast<double>(of_parts.cost());
      if (of_parts.fits < best_fits || (of_parts.fits == best_fits && cycles >= best_cycles)) return;
      best = std::move(parts);
      best_cycles = cycles;
      best_fits = of_parts.fits;
      best_blocks = blocks;
    };
    const Shape& images = operands[sums_images ? 1 : 2].shape;
    std::int64_t most = images[2] * (images.rank == 4 && !sums_images ? images[3] : 1);
    if (!sums_images) most = (std::min)(most, partitions_.machine().tiles / images[0]);
    for (std::int64_t blocks = 2; blocks <= most; blocks *= 2) consider(blocks);
    if (best_blocks == 0) return best;
    const std::int64_t around = best_blocks;
    for (const std::int64_t eighths : {5, 6, 7, 10, 12, 14})
      if (const std::int64_t blocks = around * eighths / 8; blocks > 1 && blocks != around && blocks <= most) consider(blocks);
    if (most < 2 * around) consider(most);  // all tiles
    return best;
  }

 private:
  struct Partitioned {
    ProductPartition part{};
    std::int64_t pieces = 0;  ///< in which a tile receives both operands, if they are blocks of images
  };
  struct Estimate {
    std::int64_t cycles = 0;  ///< of the products among parts, and of copies
    std::int64_t pieces = 0;
    bool fits = true;  ///< whether the products are within their share of the memory
    constexpr std::int64_t cost() const { return cycles + cycles_of_piece * std::max<std::int64_t>(0, pieces - few_pieces); }
  };

  /// Returns the number of blocks if `most` blocks have equal extents, but the last one less.
  static constexpr std::int64_t even_blocks(std::int64_t extent, std::int64_t most) {
    return block_count(extent, block_count(extent, (std::min)(extent, most)));
  }
  /// Returns the cut into at most `blocks` blocks of an image with the fewest elements in the largest block, with those around
  /// it. Images that are summed over have blocks along one axis, because one sum of parts follows.
  static constexpr ImageCut cut_of(std::span<const TensorSpec> operands, std::int64_t blocks, bool sums_images) {
    const Shape &images = operands[sums_images ? 1 : 2].shape, &kernel = operands[sums_images ? 2 : 1].shape;
    const bool has_two = images.rank == 4 && !sums_images;
    const std::int64_t rows = images[2], columns = has_two ? images[3] : 1;
    ImageCut best{{1, 1, 1}};
    std::int64_t least = 0;
    for (std::int64_t across = 1; across <= blocks && across <= columns; across += 1 + across / 4) {
      const ImageCut cut{{even_blocks(rows, blocks / across), even_blocks(columns, across), 1}};
      const std::int64_t of_rows = block_count(rows, cut.blocks[0]) + kernel[2] - 1;
      const std::int64_t of_columns = block_count(columns, cut.blocks[1]) + (has_two ? kernel[3] : 1) - 1;
      if (least > 0 && of_rows * of_columns >= least) continue;
      least = of_rows * of_columns;
      best = cut;
    }
    return best;
  }
  /// Returns the partition of a convolution with the shares of tiles that blocks along its axes have.
  constexpr Partitioned partition_of(const OpInfo& op, std::span<const TensorSpec> operands, const PackedAttributes& attributes) {
    Work work = work_of(op, operands, 2, attributes);
    const ProductCut cut = cut_product_on_tiles(op, operands, attributes, work, target_, partitions_);
    ProductPartition part = cut.part;
    if (part.slices() > 1) return {part};
    set_blocks(work, cut);
    std::int64_t rows = 1, row_blocks = 1, inner_parts = 1;
    for (int i = 0; i < work.axes.size(); ++i) {
      const WorkAxis& axis = work.axes[i];
      if (axis.kind == WorkAxisKind::whole || axis.block == 0) continue;
      const ProductAxis kind = product_axis(work, i);
      if (kind == ProductAxis::row) rows *= axis.extent, row_blocks *= axis.block;
      if (kind == ProductAxis::inner) inner_parts *= block_count(axis.extent, axis.block);
    }
    part.inner_parts = inner_parts;
    part.row_parts = block_count(rows, row_blocks);
    price(part,
          problem_of(op, operands, work, dtype_of_parts(op, attributes, operands[2].dtype), target_, form_of(op, attributes)),
          partitions_.machine());
    return {part, pieces_of(work, operands)};
  }
  /// Returns the runs of elements that a block of a product among parts has of both operands: of images, (N, C, blocks, extent,
  /// ...), and of weights, which have fewer axes.
  static constexpr std::int64_t pieces_of(const Work& work, std::span<const TensorSpec> operands) {
    std::int64_t pieces = 0;
    int spatial = max_rank;  // axes, of weights and images
    for (const TensorSpec& each : operands) spatial = (std::min)(spatial, each.shape.rank - 2);
    const int first_whole = 2 + 2 * tilewright::detail::axes_with_blocks(spatial);  // axis without blocks
    for (const int operand : {0, 1}) {
      const Shape& shape = operands[static_cast<std::size_t>(operand)].shape;
      if (work.follows(operand, 0) < 0 || shape.rank < 4) continue;
      const bool is_of_images = shape.rank >= operands[static_cast<std::size_t>(1 - operand)].shape.rank;
      std::int64_t runs = 1;
      bool is_run = true;  // the axes from this one on are in one run
      for (int axis = shape.rank; axis-- > 0;) {
        const int followed = work.follows(operand, axis);
        const std::int64_t block = followed < 0 || work.axes[followed].block == 0 ? shape[axis] : work.axes[followed].block;
        const bool is_of_blocks = is_of_images && axis >= 3 && axis % 2 == 1 && axis < first_whole && shape[axis] > 1 &&
                                  shape[axis - 1] > 1;
        if (!is_run) runs *= block;
        is_run = is_run && block == shape[axis] && !is_of_blocks;
      }
      pieces += runs;
    }
    return pieces;
  }
  constexpr Estimate estimate(const List<OpPart>& parts, std::span<const TensorSpec> inputs) {
    const ProductMachine& machine = partitions_.machine();
    List<TensorSpec> tensors(inputs.begin(), inputs.begin() + 2);
    Estimate result;
    for (const OpPart& part : parts) {
      const TensorSpec& output = part.outputs[0];
      tensors.push_back(output);
      if (part.op->work_kind == WorkKind::convolution) {
        const TensorSpec operands[] = {tensors[static_cast<std::size_t>(part.inputs[0])],
                                       tensors[static_cast<std::size_t>(part.inputs[1])], output};
        const auto [product, pieces] = partition_of(*part.op, operands, part.attributes);
        result.cycles += product.cycles.total();
        result.pieces += pieces;
        result.fits = product.fits && (product.slices() == 1 || output.shape.rank < max_rank);  // see add_product
      } else if (part.op->work_kind == WorkKind::map) {  // elements come to a tile, and are read and written there
        const std::int64_t bytes = ceil_divide(output.bytes(), machine.tiles);
        result.cycles += machine.step_cycles + ceil_divide(bytes, machine.exchange_bytes) + slice_cycles(bytes, 1);
      }
    }
    return result;
  }

  const Target& target_;
  ProductPartitions& partitions_;
};

}  // namespace detail

}  // namespace tilewright::internal
