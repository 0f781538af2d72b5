#pragma once
#include <cstdint>
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

/// Rule for the parts of a convolution over `blocks` horizontal strips of each image, which become separate images. An empty
/// list: the number of rows is not a multiple of `blocks`.
using BlockRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&,
                                   std::int64_t blocks);

/// Rules of an op that the planner of simulated IPUs reads, beside those in OpInfo. An op states them as HostRules:
///
///   constexpr operator IpuRules() const { return IpuRules{.memory_proportion = proportion}; }
struct IpuRules {
  BlockRule expand_in_blocks = nullptr;  ///< of a convolution: its expansion if it occupies few tiles; null: none
  /// Share of a tile's memory, from 0 to 1, for the operands and results of a product or a convolution; -1: the planner's
  /// default. Null: the op has no preference.
  double (*memory_proportion)(const PackedAttributes&) = nullptr;
  /// Returns the attributes with another share; null: they have none.
  PackedAttributes (*with_memory_proportion)(const PackedAttributes&, double proportion) = nullptr;
};

}  // namespace tilewright
