#pragma once
#include <cstdint>
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

/// Rule for the parts of a convolution over `blocks` horizontal strips of each image, which become separate images. An empty
/// list: the number of rows is not a multiple of `blocks`.
using BlockRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&,
                                   std::int64_t blocks);

struct Target;

/// Rule for the ops that are planned in the place of an op on the tiles of a target; empty: the op itself.
using TileRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&, const Target&);

/// Numbers of the operands of an op whose indices map rows of a table to those of another operand; -1: the first result.
struct IndexedOperands {
  int table = -1, rows = -1;
  int indices = -1;  ///< -1: the op has none
  constexpr bool are_given() const { return indices >= 0; }
};

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
  TileRule expand = nullptr;  ///< null: none
  int positions_of = -1;  ///< of an op that `takes_positions`, the input whose elements' positions these are; -1: output 0
  IndexedOperands indexed{};  ///< of an indexed op that is cut by cycles
};

}  // namespace tilewright
