#pragma once
// takes: the steps of a body
// gives: Step::barrier_before, Step::joins_ipus
// keeps: all else
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {

/// Memory that a step accesses: all bytes of a range, or the first `width` of each period.
struct Access {
  Location from{};  ///< of the first byte
  std::int64_t bytes = 0;  ///< from the first to the last byte
  bool writes = false;
  bool single = false;  ///< whether the only vertex of its step accesses it: one worker runs all such vertices in sequence
  std::int64_t period = 0, width = 0;  ///< in bytes; 0: the whole range
};
/// Returns whether two accesses share no byte although their ranges overlap, for example columns 0 to 3 and 4 to 7 of the same
/// rows.
constexpr bool interleave(const Access& a, const Access& b) {
  if (a.period == 0 || a.period != b.period) return false;
  const std::int64_t rest = (b.from.offset - a.from.offset) % a.period, distance = rest < 0 ? rest + a.period : rest;
  return distance >= a.width && distance + b.width <= a.period;
}
/// Returns whether the order of two accesses of different steps matters.
constexpr bool conflict(const Access& a, const Access& b) {
  if (a.from.base != b.from.base || a.from.index != b.from.index || !(a.writes || b.writes) || (a.single && b.single))
    return false;
  return a.from.offset < b.from.offset + b.bytes && b.from.offset < a.from.offset + a.bytes && !interleave(a, b);
}

/// Byte distances by which all vertices together reach the elements of an operand, with their counts: along its axes, and from
/// one partial result to the next.
class Reach {
 public:
  constexpr Reach(const auto& plan, const ComputeSet& set, const StageOperand& operand) : element_(size_of(operand.view.dtype)) {
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
  /// Widens an access to these elements, from the first one on.
  constexpr void widen(Access& access) const {
    std::int64_t below = 0, above = element_;  // bytes from the first element on, in both directions
    for (int i = 0; i < count_; ++i) (reach(i) < 0 ? below : above) += reach(i);
    const bool is_first = access.bytes == 0;
    const std::int64_t old_below = is_first ? below : access.from.offset, old_above = is_first ? above : old_below + access.bytes;
    access.from.offset = below < old_below ? below : old_below;
    access.bytes = (above > old_above ? above : old_above) - access.from.offset;
    if (is_first && gaps_) find_period(access);
    else if (!is_first && access.period != 0) keep_period(access, below != old_below || above != old_above);
  }

 private:
  constexpr void add(std::int64_t bytes, std::int64_t count) {
    if (count > 1 && bytes != 0) bytes_[count_] = bytes, counts_[count_++] = count;
  }
  constexpr std::int64_t reach(int i) const { return bytes_[i] * (counts_[i] - 1); }
  static constexpr std::int64_t size(std::int64_t signed_bytes) { return signed_bytes < 0 ? -signed_bytes : signed_bytes; }
  /// Returns the used bytes of each period, or of at least one period.
  constexpr std::int64_t width_of(std::int64_t period) const {
    std::int64_t width = element_;
    for (int i = 0; i < count_; ++i)
      if (bytes_[i] % period != 0) width += size(reach(i));
    return width;
  }
  /// Finds the smallest distance whose periods have unused bytes.
  constexpr void find_period(Access& access) const {
    for (int i = 0; i < count_; ++i) {
      const std::int64_t period = size(bytes_[i]);
      if (access.period != 0 && period >= access.period) continue;
      if (const std::int64_t width = width_of(period); width < period) access.period = period, access.width = width;
    }
  }
  /// Keeps the period for another view of the memory: it has the same gaps, or none are known.
  constexpr void keep_period(Access& access, bool moved) const {
    if (moved || width_of(access.period) > access.width) access.period = access.width = 0;
  }

  std::int64_t element_;
  bool gaps_ = false;
  int count_ = 0;
  std::int64_t bytes_[max_rank + max_work_axes]{}, counts_[max_rank + max_work_axes]{};
};

/// Returns the accesses of all vertices of a compute set, by location, as if each location were the start of its memory.
constexpr List<Access> accesses_of(const auto& plan, const ComputeSet& set) {
  List<Access> all(static_cast<std::size_t>(set.location_count));
  for (int s = 0; s < set.stage_count; ++s) {
    const Stage& stage = plan.stages[set.first_stage + s];
    for (int o = 0; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan.operands[stage.first_operand + o];
      if (operand.source != Source::memory) continue;
      Access& access = all[operand.index];
      access.writes = access.writes || o >= stage.input_count;
      Reach(plan, set, operand).widen(access);
    }
  }
  return all;
}
/// Returns the accesses of all vertices of a compute step or collective of a plan, or of a frozen one, by location, from those of
/// its set.
constexpr List<Access> accesses_of(const auto& plan, const Step& step, const List<Access>& of_set) {
  List<Access> all = of_set;
  const Location* const locations = plan.locations.data() + step.first_location;
  const bool single = step.vertices == 1 && step.kind == StepKind::compute;
  Access* const accesses = all.data();
  for (int i = 0; i < step.location_count; ++i) {
    Access& access = accesses[i];
    access.from.base = locations[i].base;
    access.from.index = locations[i].index;
    access.from.offset += locations[i].offset;
    access.single = single;
  }
  return all;
}
constexpr List<Access> accesses_of(const auto& plan, const Step& step) {
  return accesses_of(plan, step, accesses_of(plan, plan.compute_sets[step.compute_set]));
}

}  // namespace detail

/// Accesses of steps since the last barriers by the workers of one IPU, or by all if the program names none.
struct StepsOfIpu {
  List<detail::Access> since{};  ///< since the last barrier of these workers
  bool after_call = false;  ///< whether a call makes the accesses unknown
  bool is_ahead = false;  ///< whether a step ran since the last barrier of all IPUs
};

/// Places barriers in a body, step after step.
class BarrierPlacer {
 public:
  constexpr BarrierPlacer(Plan& plan, BodyId number)
      : plan_(plan), body_(plan.bodies[number]), of_sets_(plan.compute_sets.size()) {
    int last = -1;
    for (int s = 0; s < body_.step_count; ++s) last = (std::max)(last, plan.steps[body_.first_step + s].ipu);
    ipus_.resize(static_cast<std::size_t>(last) + 2);
    if (!plan.is_root(number))  // at the start of a run there is nothing to wait for
      body_.ipu < 0 ? void(after_call_of_all_ = true) : void(of(body_.ipu).after_call = true);
  }
  constexpr void run() {
    for (int s = 0; s < body_.step_count; ++s) {
      Step& step = plan_.steps[body_.first_step + s];
      if (step.is_call()) place_at_call(step);
      else if (step.kind != StepKind::load_code) place(step);
    }
  }

 private:
  // Accesses since the last barrier that are compared with a step's own. After more there is a barrier, so that the pass stays
  // linear in steps. Adam's step of MNIST would notice a quarter of them.
  static constexpr std::size_t most = 64;

  constexpr StepsOfIpu& of(int ipu) { return ipus_[static_cast<std::size_t>(ipu + 1)]; }
  constexpr bool is_on_several() const { return ipus_.size() > 1; }
  constexpr void join() {
    for (StepsOfIpu& each : ipus_) each = {};
    between_ipus_.clear();
    after_call_of_all_ = false;
  }
  static constexpr bool conflicts(const List<detail::Access>& own, const List<detail::Access>& others) {
    const detail::Access* const earlier = others.data();
    for (const detail::Access& access : own) {
      const std::int64_t begin = access.from.offset, end = begin + access.bytes;
      for (std::size_t i = 0, count = others.size(); i < count; ++i)  // few of them are at the same offsets of any memory
        if (earlier[i].from.offset < end && begin < earlier[i].from.offset + earlier[i].bytes &&
            detail::conflict(access, earlier[i]))
          return true;
    }
    return false;
  }
  constexpr void place(Step& step) {
    List<detail::Access>& of_set = of_sets_[step.compute_set];
    if (of_set.empty()) of_set = detail::accesses_of(plan_, plan_.compute_sets[step.compute_set]);
    const List<detail::Access> own = detail::accesses_of(plan_, step, of_set);
    StepsOfIpu& known = of(step.ipu);
    step.joins_ipus = after_call_of_all_ || !is_on_several() || step.ipu < 0 ||
                      (step.from_ipu >= 0 && of(step.from_ipu).is_ahead) || conflicts(own, between_ipus_);
    step.barrier_before = (step.joins_ipus && is_on_several()) || after_call_of_all_ || known.after_call ||
                          known.since.size() > most || conflicts(own, known.since);
    if (step.barrier_before && step.joins_ipus) join();
    else if (step.barrier_before) known = {.is_ahead = known.is_ahead};
    if (body_.ipu >= 0) step.joins_ipus = false;
    make_room(known.since, own.size());
    for (const detail::Access& access : own) known.since.push_back(access);
    if (step.from_ipu >= 0) {
      between_ipus_.push_back(own[0]);
      between_ipus_.back().single = false;  // other workers run the steps that it is compared with
    }
    known.is_ahead = true;
    if (step.ipu < 0 && is_on_several()) after_call_of_all_ = true;  // other workers run the next one
  }
  /// Places the barriers of a call. A call on all IPUs has the barrier of all of them in its first step, and in the step after
  /// it. A call on a single IPU waits for the others only if these may read its results.
  constexpr void place_at_call(Step& step) {
    step.joins_ipus = step.ipu < 0 || after_call_of_all_ || !between_ipus_.empty();
    if (step.joins_ipus && step.ipu >= 0) join();
    if (step.ipu < 0) after_call_of_all_ = true;
    else of(step.ipu).after_call = of(step.ipu).is_ahead = true;
  }

  Plan& plan_;
  const Body& body_;
  List<List<detail::Access>> of_sets_;  // by compute set; empty: not made yet
  List<StepsOfIpu> ipus_{};  // from -1 on: where the program names none; only that if it names none at all
  List<detail::Access> between_ipus_{};  // what copies read of other IPUs, since the last barrier of all IPUs
  bool after_call_of_all_ = false;
};

/// Places a barrier before each step of a body that conflicts with a step since the last barrier: one of them writes memory that
/// the other accesses. Other steps run in parallel. The first step after a call, and the first of a called body, also have one.
/// Barriers of all IPUs exist only at copies between IPUs, before writes to memory that such copies read, and at calls of bodies
/// on several IPUs.
constexpr void place_barriers(Plan& plan, BodyId number) { BarrierPlacer(plan, number).run(); }

}  // namespace tilewright::internal
