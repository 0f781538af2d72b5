#pragma once
// takes: the steps of a body
// gives: Step::barrier_before
// keeps: all else
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/partition.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {

/// A range of memory that a step reads or writes.
struct Access {
  Location from{};
  std::int64_t bytes = 0;  ///< from the first to the last byte
  bool writes = false;
  bool single = false;  ///< by the only vertex of its step: the same worker runs all such vertices, one after the other
};
/// Whether the order of two accesses of different steps matters.
constexpr bool conflict(const Access& a, const Access& b) {
  if (a.from.base != b.from.base || a.from.index != b.from.index || !(a.writes || b.writes) || (a.single && b.single))
    return false;
  return a.from.offset < b.from.offset + b.bytes && b.from.offset < a.from.offset + a.bytes;
}
/// Bytes from the first to the last element of a view.
constexpr std::int64_t span_bytes(const ViewSpec& view) {
  std::int64_t last = 0;
  for (int axis = 0; axis < view.shape.rank; ++axis) last += (view.shape[axis] - 1) * view.stride(axis);
  return (last + 1) * size_of(view.dtype);
}

/// What all vertices of a compute step or collective access, by location.
constexpr List<Access> accesses_of(const Plan& plan, const Step& step) {
  const ComputeSet& set = plan.compute_sets[step.compute_set];
  List<Access> all;
  all.reserve(static_cast<std::size_t>(step.location_count));
  for (int i = 0; i < step.location_count; ++i)
    all.push_back(
        {.from = plan.locations[step.first_location + i], .single = step.vertices == 1 && step.kind == StepKind::compute});
  for (int s = 0; s < set.stage_count; ++s) {
    const Stage& stage = plan.stages[set.first_stage + s];
    for (int o = 0; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan.operands[stage.first_operand + o];
      if (operand.source != Source::memory) continue;
      Access& access = all[operand.index];
      access.writes = access.writes || o >= stage.input_count;
      std::int64_t bytes = span_bytes(slice_of(operand, set.blocks));
      for (int axis = 0; axis < set.blocks.size(); ++axis)
        bytes += (block_count(set.extents[axis], set.blocks[axis]) - 1) *
                 plan.strides[set.first_stride + operand.index * set.blocks.size() + axis];
      access.bytes = access.bytes < bytes ? bytes : access.bytes;
    }
  }
  return all;
}

}  // namespace detail

/// Places a barrier before each step of a body that conflicts with a step since the last barrier: one of them writes what the
/// other reads or writes. Other steps run side by side. The first step after a call, and the first of a called body, have one
/// too.
constexpr void place_barriers(Plan& plan, const Body& body) {
  // Accesses since the last barrier that are compared with a step's own. After more there is a barrier, so that the pass stays
  // linear in steps. W1a of ./dev bench would notice a quarter of them.
  constexpr std::size_t most = 64;
  List<detail::Access> since;                  // the last barrier
  bool after_call = &body != &plan.bodies[BodyId::main];  // at the start of a run there is nothing to wait for
  for (int s = 0; s < body.step_count; ++s) {
    Step& step = plan.steps[body.first_step + s];
    if (step.kind == StepKind::load_code) continue;
    if (step.is_call()) {  // they keep theirs: a conditional reads its condition
      after_call = true;
      continue;
    }
    const List<detail::Access> own = detail::accesses_of(plan, step);
    step.barrier_before = after_call || since.size() > most;
    for (const detail::Access& access : own) {
      if (step.barrier_before) break;
      const detail::Access* const earlier = since.data();
      for (std::size_t i = 0, count = since.size(); i < count && !step.barrier_before; ++i)  // few of them are in the same memory
        if (earlier[i].from.index == access.from.index && earlier[i].from.base == access.from.base)
          step.barrier_before = detail::conflict(access, earlier[i]);
    }
    if (step.barrier_before) since.clear();
    make_room(since, own.size());
    for (const detail::Access& access : own) since.push_back(access);
    after_call = false;
  }
}

}  // namespace tilewright::internal
