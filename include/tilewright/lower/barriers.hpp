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

/// Memory that a step reads or writes: all bytes of a range, or of each period the first `width`.
struct Access {
  Location from{};  ///< of the first byte
  std::int64_t bytes = 0;  ///< from the first to the last byte
  bool writes = false;
  bool single = false;  ///< by the only vertex of its step: the same worker runs all such vertices, one after the other
  std::int64_t period = 0, width = 0;  ///< in bytes; 0: the whole range
};
/// Whether two accesses use no byte both, although their ranges overlap: as columns 0 to 3 and 4 to 7 of the same rows.
constexpr bool interleave(const Access& a, const Access& b) {
  if (a.period == 0 || a.period != b.period) return false;
  const std::int64_t rest = (b.from.offset - a.from.offset) % a.period, distance = rest < 0 ? rest + a.period : rest;
  return distance >= a.width && distance + b.width <= a.period;
}
/// Whether the order of two accesses of different steps matters.
constexpr bool conflict(const Access& a, const Access& b) {
  if (a.from.base != b.from.base || a.from.index != b.from.index || !(a.writes || b.writes) || (a.single && b.single))
    return false;
  return a.from.offset < b.from.offset + b.bytes && b.from.offset < a.from.offset + a.bytes && !interleave(a, b);
}

/// The steps in bytes by which all vertices together reach the elements of an operand, with how many there are of each: along its
/// axes, and from one partial result to the next.
class Reach {
 public:
  constexpr Reach(const Plan& plan, const ComputeSet& set, const StageOperand& operand) : element_(size_of(operand.view.dtype)) {
    unsigned followed = 0;
    for (int axis = 0; axis < operand.view.shape.rank; ++axis) {
      add(operand.view.stride(axis) * element_, operand.view.shape[axis]);
      if (operand.grid_axis[axis] >= 0) followed |= 1u << operand.grid_axis[axis];
    }
    gaps_ = span_bytes(operand.view) > operand.view.shape.nelms() * element_;
    for (int axis = 0; axis < set.blocks.size(); ++axis)  // partials: the view is that of one
      if ((followed >> axis & 1) == 0)
        add(plan.strides[set.first_stride + operand.index * set.blocks.size() + axis],
            block_count(set.extents[axis], set.blocks[axis]));
  }
  /// Widens an access, whose location is that of the first element, to these.
  constexpr void widen(Access& access, std::int64_t location) const {
    std::int64_t below = 0, above = element_;  // bytes from the first element on, in both directions
    for (int i = 0; i < count_; ++i) (reach(i) < 0 ? below : above) += reach(i);
    const bool is_first = access.bytes == 0;
    const std::int64_t begin = location + below, end = location + above;
    const std::int64_t old_begin = is_first ? begin : access.from.offset, old_end = is_first ? end : old_begin + access.bytes;
    access.from.offset = begin < old_begin ? begin : old_begin;
    access.bytes = (end > old_end ? end : old_end) - access.from.offset;
    if (is_first && gaps_) find_period(access);
    else if (!is_first && access.period != 0) keep_period(access, begin != old_begin || end != old_end);
  }

 private:
  constexpr void add(std::int64_t bytes, std::int64_t count) {
    if (count > 1 && bytes != 0) bytes_[count_] = bytes, counts_[count_++] = count;
  }
  constexpr std::int64_t reach(int i) const { return bytes_[i] * (counts_[i] - 1); }
  static constexpr std::int64_t size(std::int64_t signed_bytes) { return signed_bytes < 0 ? -signed_bytes : signed_bytes; }
  /// The bytes of each period that are used, or at least one period's.
  constexpr std::int64_t width_of(std::int64_t period) const {
    std::int64_t width = element_;
    for (int i = 0; i < count_; ++i)
      if (bytes_[i] % period != 0) width += size(reach(i));
    return width;
  }
  /// The smallest step of which periods have bytes that are not used.
  constexpr void find_period(Access& access) const {
    for (int i = 0; i < count_; ++i) {
      const std::int64_t period = size(bytes_[i]);
      if (access.period != 0 && period >= access.period) continue;
      if (const std::int64_t width = width_of(period); width < period) access.period = period, access.width = width;
    }
  }
  /// Another view of the same memory: it has the same gaps, or none are known.
  constexpr void keep_period(Access& access, bool moved) const {
    if (moved || width_of(access.period) > access.width) access.period = access.width = 0;
  }

  std::int64_t element_;
  bool gaps_ = false;
  int count_ = 0;
  std::int64_t bytes_[max_rank + max_work_axes]{}, counts_[max_rank + max_work_axes]{};
};

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
      Reach(plan, set, operand).widen(access, plan.locations[step.first_location + operand.index].offset);
    }
  }
  return all;
}

}  // namespace detail

/// Places a barrier before each step of a body that conflicts with a step since the last barrier: one of them writes what the
/// other reads or writes. Other steps run side by side. The first step after a call, and the first of a called body, have one
/// too.
constexpr void place_barriers(Plan& plan, BodyId number) {
  const Body& body = plan.bodies[number];
  // Accesses since the last barrier that are compared with a step's own. After more there is a barrier, so that the pass stays
  // linear in steps. W1a of ./dev bench would notice a quarter of them.
  constexpr std::size_t most = 64;
  List<detail::Access> since;  // the last barrier
  bool after_call = !plan.is_root(number);  // at the start of a run there is nothing to wait for
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
