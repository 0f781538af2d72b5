#pragma once
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

namespace detail {

/// Writes the step of a call to the plan: the locations of its arguments, and for a loop how they move.
class CallPlacer {
 public:
  constexpr CallPlacer(const BodyDraft& draft, const Operation& call, Plan& plan)
      : draft_(draft), call_(call), calling_(call.calling), plan_(plan) {}

  constexpr void run() {
    Step step{.kind = StepKind::call, .body = calling_.body, .first_location = static_cast<int>(plan_.locations.size())};
    step.ipu = call_.placement.ipu;
    step.arguments = calling_.inputs + calling_.outputs;
    make_room(plan_.locations, call_.operands.size());
    make_room(plan_.steps);
    if (calling_.loop) {
      step.kind = StepKind::loop;
      step.count = calling_.loop->count;
      for (int turn = 0; turn < 3; ++turn) add_iteration(*calling_.loop, turn);
      step.first_stride = static_cast<int>(plan_.strides.size());
      add_strides(*calling_.loop);
    } else {
      const int first_output = call_.input_count;
      int first_input = 0;
      if (calling_.else_body != BodyId::none) {
        step.kind = StepKind::conditional;
        step.else_body = calling_.else_body;
        add_locations(first_input++, 1);  // the condition
      }
      add_locations(first_input, calling_.inputs);
      add_locations(first_output, calling_.outputs);
      add_locations(first_input + calling_.inputs, calling_.else_inputs);
      add_locations(first_output + calling_.outputs, calling_.else_outputs);
    }
    step.location_count = static_cast<int>(plan_.locations.size()) - step.first_location;
    step.frame_offset = draft_.location_of(call_.operands.back()).offset;
    plan_.steps.push_back(step);
  }

 private:
  constexpr Location location(int operand) const { return draft_.location_of(call_.operands[operand]); }
  constexpr void add_locations(int first, int count) {
    for (int i = first; i < first + count; ++i) plan_.locations.push_back(location(i));
  }
  /// Adds the arguments of the first iteration (turn 0), of the second, fourth, ... (1) or of the third, fifth, ... (2), without
  /// the strides. A carried tensor has two places: iterations write alternately to the output and to the second place, so that
  /// the last one writes the output, and each reads the place that the previous one wrote.
  constexpr void add_iteration(const LoopAttributes& loop, int turn) {
    const bool writes_output = (loop.count - 1 - turn) % 2 == 0;
    const int output = call_.input_count, second = output + calling_.outputs;
    for (int i = 0; i < calling_.inputs; ++i) {
      Location from = location(i);
      if (turn > 0 && i < loop.carried) from = location((writes_output ? second : output) + i);
      if (loop.reversed != 0 && is_slice(loop, i)) from.offset += (loop.count - 1) * slice_bytes(loop, i);
      plan_.locations.push_back(from);
    }
    for (int o = 0; o < calling_.outputs; ++o) {
      Location to = location((writes_output || o >= loop.carried ? output : second) + o);
      if (loop.reversed != 0 && o >= loop.carried) to.offset += (loop.count - 1) * slice_bytes(loop, output + o);
      plan_.locations.push_back(to);
    }
  }
  /// Adds for each argument the bytes from one iteration to the next: for slices those of a slice, negative if the loop is
  /// reversed.
  constexpr void add_strides(const LoopAttributes& loop) {
    for (int i = 0; i < calling_.inputs + calling_.outputs; ++i) {
      std::int64_t stride = 0;
      if (i >= calling_.inputs ? i - calling_.inputs >= loop.carried : is_slice(loop, i))
        stride = slice_bytes(loop, i) * (loop.reversed != 0 ? -1 : 1);
      plan_.strides.push_back(stride);
    }
  }
  static constexpr bool is_slice(const LoopAttributes& loop, int input) {
    return input >= loop.carried && input < loop.carried + loop.sliced;
  }
  constexpr std::int64_t slice_bytes(const LoopAttributes& loop, int operand) const {
    return call_.operands[operand].spec.bytes() / loop.count;
  }

  const BodyDraft& draft_;
  const Operation& call_;
  const Calling& calling_;
  Plan& plan_;
};

/// Appends the step of a call, or of a load of code, to the plan.
constexpr void place_call(const BodyDraft& draft, const Operation& call, Plan& plan) {
  if (!call.loads_code) return CallPlacer(draft, call, plan).run();
  make_room(plan.steps);
  plan.steps.push_back({.kind = StepKind::load_code, .body = call.calling.body});
}

}  // namespace detail

}  // namespace tilewright::internal
