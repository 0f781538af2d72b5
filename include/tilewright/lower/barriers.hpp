#pragma once
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/partition.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

namespace detail {

/// A range of memory that a step reads or writes.
struct Access {
  Location from{};
  std::int64_t bytes = 0;
  bool writes = false;
  bool single = false;  ///< by the only vertex of its step, which the same worker runs in all such steps
};
constexpr bool conflict(const Access& a, const Access& b) {
  if (a.from.base == Base::fault) return false;  // it is written atomically, and read when the run has ended
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

constexpr List<Access> accesses_of(const Plan& plan, const Step& step) {
  const ComputeSet& set = plan.compute_sets[static_cast<std::size_t>(step.target)];
  List<Access> all;
  all.reserve(static_cast<std::size_t>(step.location_count));
  for (int i = 0; i < step.location_count; ++i)
    all.push_back({.from = plan.locations[static_cast<std::size_t>(step.first_location + i)],
                   .single = step.vertices == 1 && step.kind == StepKind::compute});
  for (int s = 0; s < set.stage_count; ++s) {
    const Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage + s)];
    for (int o = 0; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan.operands[static_cast<std::size_t>(stage.first_operand + o)];
      if (operand.source != Source::memory) continue;
      Access& access = all[static_cast<std::size_t>(operand.index)];
      access.writes = access.writes || o >= stage.input_count;
      std::int64_t bytes = span_bytes(slice_of(operand, set.blocks));
      for (int axis = 0; axis < set.blocks.size(); ++axis)
        bytes += (block_count(set.extents[axis], set.blocks[axis]) - 1) *
                 plan.strides[static_cast<std::size_t>(set.first_stride + operand.index * set.blocks.size() + axis)];
      access.bytes = access.bytes < bytes ? bytes : access.bytes;
    }
  }
  return all;
}

}  // namespace detail

/// Decides before which steps of a body workers wait for each other: where a step reads or writes what another one wrote, or
/// writes what another one read, since they last met. Steps that do not touch each other's memory go on side by side.
constexpr void place_barriers(Plan& plan, const Body& body) {
  // Accesses since the last barrier that are compared with a step's own. After more there is a barrier, so that the pass stays
  // linear in steps. W1a of ./dev bench would notice a quarter of them.
  constexpr std::size_t most = 64;
  List<detail::Access> since;
  bool after_call = &body != &plan.bodies[0];  // the workers of a run start together
  for (int s = 0; s < body.step_count; ++s) {
    Step& step = plan.steps[static_cast<std::size_t>(body.first_step + s)];
    if (step.kind == StepKind::load_code) continue;
    if (step.is_call()) {  // a conditional reads its condition: all must be there
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

}  // namespace tilewright
