#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/lower/products/product_blocks.hpp"

namespace tilewright::internal {

namespace detail {

/// Blocks of rows are used if they save at least a quarter of the cycles of a convolution, because the cost of copies is an
/// estimate. The plan of the benchmarks' CNN for a simulated IPU depends on it.
inline constexpr double most_cycles_in_blocks = 0.75;

/// Searches for the number of blocks of rows over which a convolution takes the fewest cycles on a simulated IPU.
class ConvolutionBlocks {
 public:
  constexpr ConvolutionBlocks(const Target& target, ProductPartitions& partitions) : target_(target), partitions_(partitions) {}

  /// Returns the parts of a convolution over the best blocks, or none if it is planned without blocks.
  constexpr List<OpPart> find(const OpInfo& op, std::span<const TensorSpec> operands, const PackedAttributes& attributes) {
    const BlockRule expand_in_blocks = ipu_rules_of(op).expand_in_blocks;
    if (expand_in_blocks == nullptr || operands.size() != 3) return {};
    const ProductPartition whole = partition_of(op, operands, attributes);
    const std::int64_t tiles = partitions_.machine().tiles;
    if (whole.fits && 2 * whole.tiles() > tiles) return {};
    List<OpPart> best;
    double best_cycles = most_cycles_in_blocks * static_cast<double>(whole.cycles.total());
    bool best_fits = whole.fits;
    const std::int64_t most = (std::max)(operands[1].shape[2], operands[2].shape[2]);  // of a kernel, and of results or data
    for (std::int64_t blocks = 2; blocks <= most; ++blocks) {
      List<OpPart> parts = expand_in_blocks(operands, 2, attributes, blocks);
      if (parts.empty()) continue;
      bool fits = true;
      const auto cycles = static_cast<double>(cycles_of(parts, operands, fits));
      if (fits < best_fits || (fits == best_fits && cycles >= best_cycles)) continue;
      best = std::move(parts);
      best_cycles = cycles;
      best_fits = fits;
    }
    return best;
  }

 private:
  constexpr ProductPartition partition_of(const OpInfo& op, std::span<const TensorSpec> operands,
                                          const PackedAttributes& attributes) {
    return cut_product_on_tiles(op, operands, attributes, work_of(op, operands, 2, attributes), target_, partitions_).part;
  }
  /// Returns the cycles of the product among the parts, and of the copies. `fits`: whether the product is within its share of the
  /// memory.
  constexpr std::int64_t cycles_of(const List<OpPart>& parts, std::span<const TensorSpec> inputs, bool& fits) {
    const ProductMachine& machine = partitions_.machine();
    List<TensorSpec> tensors(inputs.begin(), inputs.begin() + 2);
    std::int64_t cycles = 0;
    for (const OpPart& part : parts) {
      const TensorSpec& result = part.outputs[0];
      tensors.push_back(result);
      if (part.op->work_kind == WorkKind::convolution) {
        const TensorSpec operands[] = {tensors[static_cast<std::size_t>(part.inputs[0])],
                                       tensors[static_cast<std::size_t>(part.inputs[1])], result};
        const ProductPartition product = partition_of(*part.op, operands, part.attributes);
        cycles += product.cycles.total();
        fits = product.fits;
      } else if (part.op->work_kind == WorkKind::map) {  // elements come to a tile, and are read and written there
        const std::int64_t bytes = ceil_divide(result.bytes(), machine.tiles);
        cycles += machine.step_cycles + ceil_divide(bytes, machine.exchange_bytes) + slice_cycles(bytes, 1);
      }
    }
    return cycles;
  }

  const Target& target_;
  ProductPartitions& partitions_;
};

}  // namespace detail

}  // namespace tilewright::internal
