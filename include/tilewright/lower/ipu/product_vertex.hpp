#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/products/product_blocks.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// The product or convolution that a vertex computes.
struct ProductVertex {
  ProductProblem problem{};
  ProductPartition part{};  ///< of which only the tile's share is set
  AmpModel unit{};

  constexpr std::int64_t cycles(ProductMethod method, OperandBanks banks) const {
    ProductPartition by_method = part;
    by_method.method = method;
    return detail::compute_cycles(problem, by_method, unit, banks);
  }
  /// Returns the cycles by the unit for products. `banks`: of the input and the sums.
  constexpr std::int64_t unit_cycles(OperandBanks banks) const {
    const std::int64_t by_amp = cycles(ProductMethod::amp, banks);
    return detail::takes_slic(problem, unit) ? (std::min)(by_amp, cycles(ProductMethod::slic, banks)) : by_amp;
  }
  /// Returns the cycles by dot products. `banks`: of both operands.
  constexpr std::int64_t dot_cycles(OperandBanks banks) const { return cycles(ProductMethod::dots, banks); }
  /// Returns the cycles if operands are in the best banks.
  constexpr std::int64_t least_cycles() const {
    return (std::min)(unit_cycles(OperandBanks::interleaved), dot_cycles(OperandBanks::interleaved));
  }
};

/// Returns whether a member of a group is a product or convolution of two operands whose cycles have a formula of their own.
constexpr bool is_product_vertex(const Operation& operation) {
  const CostFormula formula = operation.op->vertex_cost.formula;
  return (formula == CostFormula::product || formula == CostFormula::convolution) && operation.input_count == 2 &&
         operation.operands.size() == 3;
}
/// Returns what a vertex of group g computes of such a member.
constexpr ProductVertex product_vertex(const TileDraft& draft, const Target& target, std::size_t g, const Member& member) {
  const Operation& operation = draft.operation(member);
  const DType partials = dtype_of_parts(*operation.op, operation.attributes, operation.operands[2].spec.dtype);
  ProductVertex result{
      detail::problem_of(operation, partials, target), {}, target.ipu->product_unit(operation.operands[0].spec.dtype, partials)};
  ProductPartition& part = result.part;
  part.tile_rows = result.problem.row_grain;
  for (int axis = 0; axis < operation.work.axes.size(); ++axis) {
    const int cut = member.grid_axis[axis];
    const std::int64_t extent = operation.work.axes[axis].extent,
                       block = cut < 0 ? extent : (std::min)(draft.cuts[g].partition.blocks[cut], extent);
    switch (detail::product_axis(operation.work, axis)) {
      case ProductAxis::group: part.tile_groups *= block; break;
      case ProductAxis::row: part.tile_rows *= block; break;
      case ProductAxis::inner: part.tile_inner *= block; break;
      case ProductAxis::column: part.tile_columns *= block; break;
      case ProductAxis::other: break;
    }
  }
  return result;
}

}  // namespace tilewright::internal
