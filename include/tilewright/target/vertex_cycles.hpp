#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/graph/op_info/op_info.hpp"
#include "tilewright/target/amp.hpp"
#include "tilewright/target/ipu_indexed_cycles.hpp"
#include "tilewright/target/ipu_reduction_cycles.hpp"

namespace tilewright {

/// Arrangement of the terms of a reduction.
enum class TermOrder : std::uint8_t {
  rows,  ///< neighbouring results have neighbouring terms, so the elements of a vector belong to different results
  lines  ///< the terms of one result are neighbours, so the elements of a vector are terms of one result
};

/// Returns the cycles of a vertex that has a tile to itself, by the cost that its op states.
///  - `elements`: of the vertex's block of the result; of an op on lines, of all its lines; of an indexed op, of all rows or
///    slices that it moves.
///  - `reduced`: terms of each element; of an op on lines, the length of a line; of an indexed op, the elements of a row or
///    slice.
///  - `banks`: where the operands of a sum, difference, product or scaled addition lie.
/// These numbers give only a guess for a product: target/amp.hpp has the formulas, and pair_cycles those of pairs.
constexpr CycleCount vertex_cycles(const VertexCost& cost, DType dtype, std::int64_t elements, std::int64_t reduced,
                                   const IpuModel& model, bool in_place = false, TermOrder order = TermOrder::rows,
                                   OperandBanks banks = OperandBanks::same) {
  if (elements == 0 || cost.formula == CostFormula::none) return {};
  const LoopCost loop = loop_of(cost, dtype);
  const Confidence confidence = confidence_of(cost, dtype);
  const std::int64_t length = std::max<std::int64_t>(1, reduced), rows = ceil_divide(elements, length);
  const auto term_cycles = [&] { return ceil_divide(loop.cycles * model.vector_width(dtype), loop.elements); };
  switch (cost.formula) {
    case CostFormula::compiled:
    case CostFormula::map: return {map_cycles(model, loop, elements), confidence};
    case CostFormula::binary_map: return {binary_map_cycles(model, loop, dtype, elements, in_place), confidence};
    case CostFormula::arithmetic: return {arithmetic_cycles(model, loop, dtype, elements, in_place, banks), confidence};
    case CostFormula::scaled_add: return {scaled_add_cycles(model, dtype, elements, banks), confidence};
    case CostFormula::cast: return {cast_cycles(model, elements), confidence};
    case CostFormula::fill: return {fill_cycles(model, dtype, elements), confidence};
    case CostFormula::copy: return {copy_cycles(model, elements * size_of(dtype)), cost.confidence};
    case CostFormula::reduction:
      if (order == TermOrder::lines || elements == 1)
        return {model.launch_cycles + reduce_lines_cycles(model, dtype, elements, length, term_cycles()), confidence};
      return {reduce_columns_cycles(model, dtype, elements, length, term_cycles(), cost.vectors), confidence};
    case CostFormula::parts: return {reduction_stage_cycles(elements, length, size_of(dtype), size_of(dtype)), confidence};
    case CostFormula::line: return {line_cycles(model, loop, cost.passes, rows, length), confidence};
    case CostFormula::serial:
      return {(loop.start > 0 ? loop.start : 25) + ceil_divide(elements * length, loop.elements) * loop.cycles, confidence};
    case CostFormula::measured: return {loop.start + ceil_divide(elements * loop.cycles, loop.elements), confidence};
    case CostFormula::window:  // rows of 4 columns are assumed
      return {pool_cycles(model, {.rows = ceil_divide(elements, 4 * model.vector_width(dtype)),
                                  .columns = 4,
                                  .terms = length,
                                  .cycles = loop.cycles}),
              Confidence::assumed};
    case CostFormula::slice: return {dynamic_slice_cycles(model, dtype, rows, length), confidence};
    case CostFormula::gather:  // workers share the rows
      return {gather_cycles(model, ceil_divide(rows, model.workers), 0, length), confidence};
    case CostFormula::scatter: return {scatter_add_cycles(model, dtype, rows, 0, length), confidence};
    case CostFormula::product:
    case CostFormula::convolution: {
      const AmpModel& unit = model.product_unit(dtype, float32);
      return {amp_cycles(unit, ceil_divide(elements, unit.units), length, unit.units), Confidence::assumed};
    }
    default: return {20 + model.workers * (17 + loop_instructions(model, loop, elements)), confidence};
  }
}
/// Returns the cycles of a vertex with pairs of `lines` lines of input 0 and `keys` lines of input 1, of `width` elements each,
/// `groups` times. Each product has the cost of the product of the lines, by the unit for products with sums of dtype `partials`,
/// and all loops together are one over the pairs. An estimate: no order in which a tile may process blocks of pairs has been
/// measured.
constexpr CycleCount pair_cycles(const VertexCost& cost, DType dtype, std::int64_t lines, std::int64_t keys, std::int64_t width,
                                 std::int64_t groups, DType partials, const IpuModel& model) {
  const std::int64_t product = amp_cycles(model.product_unit(dtype, partials), lines, width, keys, groups);
  return {cost.passes * product + line_cycles(model, loop_of(cost, dtype), 1, groups * lines, keys), Confidence::assumed};
}
constexpr CycleCount vertex_cycles(const OpInfo& op, DType dtype, std::int64_t elements, std::int64_t reduced,
                                   const IpuModel& model, TermOrder order = TermOrder::rows,
                                   OperandBanks banks = OperandBanks::same) {
  return vertex_cycles(op.vertex_cost, dtype, elements, reduced, model, op.modifies >= 0, order, banks);
}

}  // namespace tilewright
