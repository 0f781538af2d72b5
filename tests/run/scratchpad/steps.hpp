#pragma once
#include <algorithm>

#include "rules.hpp"
#include "tilewright/lower/memory/planned_program.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/lower/program/code_memory.hpp"

namespace scratchpad {

using std::int64_t;
using tw::Plan, tw::Text, tw::text;
using tw::internal::ComputeSet, tw::internal::Step;

/// A block of main memory that lies in the scratchpad while a vertex computes.
struct Block {
  tw::internal::Location memory{};
  tw::ViewSpec slice{};  ///< of the first vertex
  int64_t bytes = 0;  ///< dense; 0: it stays in main memory
  bool is_read = false, is_written = false;  ///< read: before it is written
  bool is_kept = false;  ///< whether all vertices of the step have the same, so that it moves once
};

/// Returns whether no axis of the grid moves a location of a step.
constexpr bool is_fixed(const Plan& plan, const ComputeSet& set, int location) {
  const int axes = set.blocks.size();
  for (int axis = 0; axis < axes; ++axis)
    if (set.blocks[axis] < set.extents[axis] &&
        plan.strides[static_cast<std::size_t>(set.first_stride + location * axes + axis)] != 0)
      return false;
  return true;
}
/// Returns the blocks of a step, by number of its location.
constexpr tw::List<Block> blocks_of(const Plan& plan, const Step& step) {
  const ComputeSet& set = plan.compute_sets[step.compute_set];
  tw::List<Block> blocks;
  for (int i = 0; i < set.location_count; ++i)
    blocks.push_back({.memory = plan.locations[step.first_location + i], .is_kept = is_fixed(plan, set, i)});
  for (int s = set.first_stage; s < set.first_stage + set.stage_count; ++s) {
    const auto& stage = plan.stages[s];
    for (int o = 0; o < stage.operand_count; ++o) {
      const auto& operand = plan.operands[stage.first_operand + o];
      if (operand.source != tw::internal::Source::memory || stays(stage.op, o)) continue;
      Block& block = blocks[operand.index];
      if (block.memory.base == tw::internal::Base::position) continue;
      const tw::ViewSpec slice = slice_of(operand, set.blocks);
      if (o < stage.input_count) block.is_read = block.is_read || !block.is_written;
      else block.is_written = true;
      if (const int64_t bytes = slice.shape.nelms() * size_of(slice.dtype); bytes > block.bytes)
        block.bytes = bytes, block.slice = slice;
    }
  }
  return blocks;
}
/// Returns the bytes of half of the scratchpad that a vertex of a step needs: its blocks and its scratch.
constexpr int64_t bytes_of(const Plan& plan, const Step& step) {
  int64_t bytes = tw::internal::align(plan.compute_sets[step.compute_set].scratch_bytes);
  for (const Block& block : blocks_of(plan, step)) bytes += tw::internal::align(block.bytes);
  return bytes;
}

/// Returns a block as text: "784 x 32 of fc1/weight", "8 x 32 of frame + 1024".
constexpr Text print_block(const Plan& plan, const Block& block) {
  Text result;
  for (int axis = 0; axis < block.slice.shape.rank; ++axis) result += text(block.slice.shape[axis], " x ");
  result = text(block.slice.shape.rank == 0 ? "1" : result.view().substr(0, result.size() - 3), " of ");
  for (const auto& variable : plan.variables)
    if (variable.base == block.memory.base && variable.offset == block.memory.offset) return text(result, variable.name);
  result += name_of(block.memory.base);
  if (block.memory.base == tw::internal::Base::stream) return text(result, " ", plan.streams[block.memory.index].name);
  return text(result, " + ", block.memory.offset);
}
/// Returns a step as text, with the bytes of its vertices: "16 vertices of 8 x 32: MatMul [Add, Gelu], 126976 bytes each".
constexpr Text print_step(const Plan& plan, const Step& step) {
  const ComputeSet& set = plan.compute_sets[step.compute_set];
  Text extents;
  for (int axis = 0; axis < set.blocks.size(); ++axis) extents += text(axis > 0 ? " x " : " of ", set.blocks[axis]);
  return text(step.parts(), step.parts() == 1 ? " vertex" : " vertices", extents, ": ",
              tw::internal::detail::print_stages(plan, set), ", ", bytes_of(plan, step), " bytes each");
}
/// Returns the steps of a plan as text, and under each the blocks that move between main memory and the scratchpad.
constexpr Text print_steps(const Plan& plan) {
  Text result;
  int body = 0, number = 0;
  for (const auto& each : plan.bodies) {
    result += text("body ", body++, "\n");
    for (int s = each.first_step; s < each.first_step + each.step_count; ++s) {
      const Step& step = plan.steps[s];
      if (step.compute_set < 0) {
        result += text("  calls body ", step.body, "\n");
        continue;
      }
      result += text("  ", number++, ": ", print_step(plan, step), "\n");
      int64_t address = 0;
      for (const Block& block : blocks_of(plan, step)) {
        if (block.bytes == 0) continue;
        result += text("     at ", address, ": ", block.is_read ? "load" : "", block.is_read && block.is_written ? ", " : "",
                       block.is_written ? "store" : "", block.is_kept ? " once " : " ", print_block(plan, block), "\n");
        address += tw::internal::align(block.bytes);
      }
    }
  }
  return result;
}

/// Counts the bytes of the scratchpad that the largest step needs; code is in main memory. Error: the scratchpad has less.
constexpr void count_memory(const tw::List<tw::internal::CodeUse>& code, tw::internal::Planning& planning) {
  Plan& plan = planning.plan;
  plan.memory.code = code[0].always.total();
  plan.memory.loaded_code = code[0].loaded.total();
  const Step* largest = nullptr;
  for (const Step& step : plan.steps) {
    if (step.compute_set < 0) continue;
    const int64_t bytes = 2 * bytes_of(plan, step);
    if (bytes > plan.memory.fullest_tile) plan.memory.fullest_tile = bytes, largest = &step;
  }
  if (plan.memory.fullest_tile <= planning.target.bytes_per_tile || !planning.target.checks_memory()) return;
  const tw::List<Block> blocks = blocks_of(plan, *largest);
  const auto& block = *std::max_element(blocks.begin(), blocks.end(),
                                        [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
  plan.fail(text(tw::internal::memory_error, "the scratchpad needs ", plan.memory.fullest_tile,
                 " bytes for two vertices of a step: at most ", planning.target.bytes_per_tile, " expected; ",
                 print_step(plan, *largest), ", of which ", print_block(plan, block), " has ", block.bytes));
}

}  // namespace scratchpad
