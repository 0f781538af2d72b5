#pragma once
#include <cstdint>

#include "tilewright/lower/ipu/tile_records.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal::proof::detail {

/// Returns the bytes that a vertex of a compute set needs on a tile for what its stages pass on in scratch.
constexpr std::int64_t bytes_of_scratch(const auto& plan, const ComputeSet& set) {
  List<int> offsets;
  std::int64_t bytes = 0;
  for (int m = 0; m < set.stage_count; ++m) {
    const Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage + m)];
    for (int o = stage.input_count; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan.operands[static_cast<std::size_t>(stage.first_operand + o)];
      bool is_known = operand.source != Source::scratch;
      for (const int offset : offsets) is_known = is_known || offset == operand.index;
      if (is_known) continue;
      offsets.push_back(operand.index);
      bytes += align(slice_of(operand, set.blocks).shape.nelms() * size_of(operand.view.dtype), tile_alignment);
    }
  }
  return bytes;
}

}  // namespace tilewright::internal::proof::detail
