#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

/// How the images of a convolution are divided: into blocks along each spatial axis, from the first one on; or, with no blocks,
/// as the rows of a product, which a kernel of one element allows.
struct ImageCut {
  std::array<std::int64_t, 3> blocks{};
  constexpr bool is_product() const { return blocks[0] == 0; }
  constexpr bool operator==(const ImageCut&) const = default;
};
/// Rule for the parts of a convolution whose images are divided so. An empty list: they cannot be divided so.
using BlockRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&,
                                   const ImageCut&);

/// How a vertex computes a convolution, beside what the shapes of its operands say.
struct ConvolutionForm {
  /// Whether the sum has the positions of operand 1, instead of one product for each of them: poplibs expands the kernel's axes
  /// into channels (poplin, ConvPlan) in the gradient of weights, whose kernel is dy.
  bool sums_positions = false;
  /// Distance of the elements of operand 0, with zeros between them that no product has: strides, in the gradient of data.
  std::int64_t spacing[3]{1, 1, 1};
};

/// The loops of a vertex of a pooling or of its gradient over each row of its block, beside what the block says.
struct WindowForm {
  std::int64_t terms = 1;  ///< elements of a window that a row meets
  std::int64_t spacing = 1;  ///< distance of the columns that one of them meets
  std::int64_t start = 0, loop_start = 0;  ///< instructions of a worker, and of each loop, before it
};

struct Target;

/// Rule for the ops that are planned in the place of an op on the tiles of a target; empty: the op itself.
using TileRule = List<OpPart> (*)(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&, const Target&);

/// Returns whether an op of a graph may have a rule IpuRules::expand.
constexpr bool may_expand_on_tiles(const OpInfo& op) {
  return op.work_kind == WorkKind::indexed || op.vertex_cost.formula == CostFormula::window;
}

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
  BlockRule expand_in_blocks = nullptr;  ///< of a convolution: its expansion over parts of images; null: none
  /// Whether axes 2 and 3 of the result are blocks and their extent, and all further pairs, which readers have as one axis each.
  bool result_in_blocks = false;
  ConvolutionForm (*convolution_form)(const PackedAttributes&) = nullptr;  ///< null: a product for each element of the kernel
  /// Share of a tile's memory, from 0 to 1, for the operands and results of a product or a convolution; -1: the planner's
  /// default. Null: the op has no preference.
  double (*memory_proportion)(const PackedAttributes&) = nullptr;
  /// Returns the attributes with another share; null: they have none.
  PackedAttributes (*with_memory_proportion)(const PackedAttributes&, double proportion) = nullptr;
  TileRule expand = nullptr;  ///< null: none
  WindowForm (*window_form)(const PackedAttributes&) = nullptr;  ///< of a pooling; null: one term
  int positions_of = -1;  ///< of an op that `takes_positions`, the input whose elements' positions these are; -1: output 0
  IndexedOperands indexed{};  ///< of an indexed op that is cut by cycles
};

}  // namespace tilewright
