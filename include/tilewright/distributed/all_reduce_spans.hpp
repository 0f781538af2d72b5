#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/distributed/planned_collective.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/lower/steps/barriers.hpp"

namespace tilewright::internal {

/// Steps during which a hierarchical all-reduce is in flight, as indices into the plan's steps.
struct AllReduceSpan {
  int step = 0;
  int start = 0;  ///< step before which it starts: `step`, or an earlier one
  int finish = 0;  ///< step before which it completes; `step`: directly after that step
  bool is_in_frame = false;  ///< whether its tensors are in the frame of its body; otherwise `start` and `finish` are `step`
  std::int64_t input = 0, output = 0;  ///< in bytes in that frame
};

/// Memory accesses of a plan's steps, including those of called bodies.
class StepAccesses {
 public:
  explicit StepAccesses(const auto& plan) : of_step_(plan.steps.size()) {
    std::vector<List<detail::Access>> of_body(plan.bodies.size());
    for (std::size_t b = plan.bodies.size(); b-- > 0;) {  // bodies stand before those that they call
      const Body& body = plan.bodies[b];
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
        const Step& step = plan.steps[static_cast<std::size_t>(s)];
        List<detail::Access>& accesses = of_step_[static_cast<std::size_t>(s)];
        if (step.kind == StepKind::compute || step.kind == StepKind::collective) accesses = detail::accesses_of(plan, step);
        else if (step.kind == StepKind::call) accesses = of_call(plan, step, of_body[static_cast<std::size_t>(step.body)]);
        for (const detail::Access& access : accesses) widen(of_body[b], access);
      }
    }
  }
  const List<detail::Access>& operator[](int step) const { return of_step_[static_cast<std::size_t>(step)]; }

 private:
  /// Returns a call's accesses to memory of its caller. The call's frame is a part of the caller's frame.
  static List<detail::Access> of_call(const auto& plan, const Step& step, const List<detail::Access>& of_body) {
    List<detail::Access> result;
    const std::int64_t frame_bytes = plan.bodies[static_cast<std::size_t>(step.body)].frame_bytes;
    result.push_back({.from = {Base::frame, 0, step.frame_offset}, .bytes = frame_bytes, .writes = true});
    for (detail::Access access : of_body) {
      if (access.from.base == Base::frame) continue;
      if (access.from.base == Base::argument) {
        const std::int64_t offset = access.from.offset;
        access.from = plan.locations[static_cast<std::size_t>(step.first_location + access.from.index)];
        access.from.offset += offset;
      }
      result.push_back(access);
    }
    return result;
  }
  /// Adds an access, merged with one to the same memory.
  static void widen(List<detail::Access>& accesses, detail::Access added) {
    added.single = false;
    added.period = added.width = 0;
    for (detail::Access& access : accesses) {
      if (access.from.base != added.from.base || access.from.index != added.from.index || access.writes != added.writes) continue;
      const std::int64_t end = (std::max)(access.from.offset + access.bytes, added.from.offset + added.bytes);
      access.from.offset = (std::min)(access.from.offset, added.from.offset);
      access.bytes = end - access.from.offset;
      return;
    }
    accesses.push_back(added);
  }

  std::vector<List<detail::Access>> of_step_;
};

/// Spans of the hierarchical all-reduces of a frozen plan, in the order of their steps. `is_hierarchical` tells whether a step is
/// one; `is_kept_apart` tells whether its output gets the result in its own step only.
///
/// An all-reduce is in flight from its start to the first step that uses its tensors. It starts at the first step at which its
/// input is ready and after which no other step before its own uses its tensors. An all-reduce that is kept apart starts at the
/// step of another all-reduce, to share a message with it.
class AllReduceSpans {
 public:
  AllReduceSpans(const auto& plan, auto is_hierarchical, auto is_kept_apart) : accesses_(plan) {
    for (const Body& body : plan.bodies)
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
        const Step& step = plan.steps[static_cast<std::size_t>(s)];
        if (is_hierarchical(step)) spans_.push_back(span_of(plan, body, s, is_kept_apart(step), is_hierarchical));
      }
  }
  const std::vector<AllReduceSpan>& spans() const { return spans_; }

  // Steps that are looked at on each side of an all-reduce.
  static constexpr int most_steps = 1024;

 private:
  /// Returns whether an all-reduce cannot be in flight while another step runs: a loop, a conditional, or a step that uses the
  /// all-reduce's tensors. If `is_before` is true, the other step comes before the all-reduce's own step.
  bool stops(const auto& plan, int step, int other, bool is_before, bool is_kept_apart) const {
    const StepKind kind = plan.steps[static_cast<std::size_t>(other)].kind;
    if (kind == StepKind::loop || kind == StepKind::conditional) return true;
    const List<detail::Access>& all = accesses_[step];
    for (std::size_t i = 0; i < all.size(); ++i) {
      detail::Access own = all[i];
      own.single = false;  // it goes on in the background
      if (is_before && is_kept_apart) {
        if (i > 0) break;  // the output
        own.writes = false;
      }
      for (const detail::Access& access : accesses_[other])
        if (detail::conflict(own, access)) return true;
    }
    return false;
  }

  static const Location& location(const auto& plan, int s, bool of_output) {
    const Step& step = plan.steps[static_cast<std::size_t>(s)];
    return plan
        .locations[static_cast<std::size_t>(of_output ? step.first_location + step.location_count - 1 : step.first_location)];
  }
  AllReduceSpan span_of(const auto& plan, const Body& body, int step, bool is_kept_apart, auto is_hierarchical) const {
    const Location &input = location(plan, step, false), &output = location(plan, step, true);
    AllReduceSpan span{.step = step, .start = step, .finish = step};
    if (input.base != Base::frame || output.base != Base::frame) return span;
    span = {step, step, step, true, input.offset, output.offset};
    for (int s = step - 1; s >= (std::max)(body.first_step, step - most_steps); --s) {
      if (stops(plan, step, s, true, is_kept_apart)) break;
      if (!is_kept_apart || is_hierarchical(plan.steps[static_cast<std::size_t>(s)])) span.start = s;
    }
    const int last = (std::min)(body.first_step + body.step_count - 1, step + most_steps);
    if (span.finish < last) ++span.finish;
    while (span.finish < last && !stops(plan, step, span.finish, false, is_kept_apart)) ++span.finish;
    return span;
  }

  StepAccesses accesses_;
  std::vector<AllReduceSpan> spans_;
};

}  // namespace tilewright::internal
