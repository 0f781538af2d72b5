#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/verified/tiles/footprints.hpp"

namespace tilewright::internal::proof::detail {

/// Bytes that a step accesses in the memory at an index of a base, as an operand of a stage.
struct StepAccess {
  Base base = Base::frame;
  int index = 0;
  Access bytes{};
  bool writes = false;
  int stage = 0, operand = 0;  ///< numbers in the compute set, and of the stage's operands
  std::int64_t begin = 0, end = 0;  ///< the first byte and the last one's end

  constexpr bool operator==(const StepAccess& other) const {
    return base == other.base && index == other.index && writes == other.writes && bytes == other.bytes;
  }
  constexpr bool shares_bytes(const StepAccess& other) const {
    return base == other.base && begin < other.end && other.begin < end && index == other.index && overlap(bytes, other.bytes);
  }
};

/// Finds steps that may run at the same time and share bytes that one of them writes.
class Barriers {
 public:
  /// Passes the barrier before a step, as the workers do. `ipu`: whose workers wait; -1: all.
  constexpr void pass(int ipu) {
    if (ipu < 0) return is_open_ = false, steps_.clear();
    if (is_open_) add(first_, {{}, ipu});
    for (Earlier& each : steps_) each.is_over = each.is_over || each.ipu == ipu;
  }
  /// Adds a step. Returns whether an earlier one conflicts with it: no barrier orders them, and one writes what the other
  /// accesses. `is_single`: whether one worker runs all of it, as the same worker runs all such steps in their order.
  constexpr bool add(List<StepAccess>&& accesses, int ipu, bool is_single) {
    bool conflicts = false;
    for (const Earlier& earlier : steps_) {
      if (!conflicts && !are_ordered(earlier, ipu, is_single)) conflicts = conflict(earlier.accesses, accesses);
    }
    if (is_open_ && !accesses.empty()) add(first_, {accesses, ipu, is_single});
    steps_.push_back({std::move(accesses), ipu, is_single});
    return conflicts;
  }
  /// Begins a body. What runs there before its first barrier of all workers may conflict with steps of any caller.
  constexpr void begin_body() { *this = {}, is_open_ = true; }
  /// Adds the steps of a body. `placed(access)`: the access, in the caller's memory. Returns whether one conflicts.
  constexpr bool add_body(const Barriers& body, const auto& placed) {
    const auto place = [&](Earlier step) {
      for (StepAccess& access : step.accesses) access = placed(access);
      return step;
    };
    bool conflicts = false;
    for (const Earlier& each : body.first_) {
      if (each.accesses.empty()) {
        pass(each.ipu);
        continue;
      }
      const Earlier step = place(each);
      for (const Earlier& earlier : steps_)
        conflicts = conflicts || (!are_ordered(earlier, step.ipu, step.is_single) && conflict(earlier.accesses, step.accesses));
      if (is_open_) add(first_, step);
    }
    if (!body.is_open_) pass(-1);
    for (const Earlier& each : body.steps_) add(steps_, place(each));
    return conflicts;
  }
  /// Begins the other branch of a conditional; `before`: what the conditional found.
  constexpr Barriers begin_branch(const Barriers& before) {
    Barriers branch = std::exchange(*this, {});
    first_ = branch.first_, is_open_ = before.is_open_;
    return branch;
  }
  /// Adds the steps of the first branch, which may have run since the last barrier.
  constexpr void end_branch(const Barriers& other) {
    for (const Earlier& each : other.steps_) add(steps_, each);
    is_open_ = is_open_ || other.is_open_;
  }

 private:
  struct Earlier {
    List<StepAccess> accesses{};
    int ipu = -1;
    bool is_single = false;
    bool is_over = false;  // for workers of its IPU
  };
  static constexpr bool are_ordered(const Earlier& earlier, int ipu, bool is_single) {
    return earlier.ipu == ipu && (earlier.is_over || (earlier.is_single && is_single));
  }
  /// Adds a step, unless an equal one is there.
  static constexpr void add(List<Earlier>& steps, const Earlier& added) {
    for (Earlier& each : steps)
      if (each.ipu == added.ipu && each.is_single == added.is_single && each.accesses == added.accesses)
        return void(each.is_over = each.is_over && added.is_over);
    steps.push_back(added);
  }
  static constexpr bool conflict(const List<StepAccess>& earlier, const List<StepAccess>& later) {
    for (const StepAccess& a : earlier)
      for (const StepAccess& b : later)
        if ((a.writes || b.writes) && a.shares_bytes(b)) return true;
    return false;
  }

  List<Earlier> steps_{};  // since the last barrier of all workers
  List<Earlier> first_{};  // of a body: until its first barrier of all workers; without accesses: a barrier of one IPU
  bool is_open_ = false;  // whether a body has not passed such a barrier
};

}  // namespace tilewright::internal::proof::detail
