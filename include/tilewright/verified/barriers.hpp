#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/verified/footprints.hpp"

namespace tilewright::internal::proof::detail {

/// Bytes that a step accesses in the memory at an index of a base, as an operand of a stage.
struct StepAccess {
  Base base = Base::frame;
  int index = 0;
  Access bytes{};
  bool writes = false;
  int stage = 0, operand = 0;  ///< numbers in the compute set, and of the stage's operands
  std::int64_t begin = 0, end = 0;  ///< the first byte and the last one's end

  constexpr bool shares_bytes(const StepAccess& other) const {
    return base == other.base && begin < other.end && other.begin < end && index == other.index && overlap(bytes, other.bytes);
  }
};

/// Finds steps that may run at the same time and share bytes that one of them writes.
class Barriers {
 public:
  /// Passes the barrier before a step, as the workers do. `ipu`: whose workers wait; -1: all.
  constexpr void pass(int ipu) {
    if (ipu < 0) return steps_.clear();
    for (Earlier& each : steps_) each.is_over = each.is_over || each.ipu == ipu;
  }
  /// Adds a step. Returns whether an earlier one conflicts with it: no barrier orders them, and one writes what the other
  /// accesses. `is_single`: whether one worker runs all of it, as the same worker runs all such steps in their order.
  constexpr bool add(List<StepAccess>&& accesses, int ipu, bool is_single) {
    bool conflicts = false;
    for (const Earlier& earlier : steps_) {
      const bool is_ordered = earlier.ipu == ipu && (earlier.is_over || (earlier.is_single && is_single));
      if (!conflicts && !is_ordered) conflicts = conflict(earlier.accesses, accesses);
    }
    steps_.push_back({std::move(accesses), ipu, is_single});
    return conflicts;
  }
  /// Adds steps that may have run since the last barrier, such as those of another branch.
  constexpr void add_all(const Barriers& others) {
    for (const Earlier& each : others.steps_) steps_.push_back(each);
  }

 private:
  struct Earlier {
    List<StepAccess> accesses{};
    int ipu = -1;
    bool is_single = false;
    bool is_over = false;  // for workers of its IPU
  };
  static constexpr bool conflict(const List<StepAccess>& earlier, const List<StepAccess>& later) {
    for (const StepAccess& a : earlier)
      for (const StepAccess& b : later)
        if ((a.writes || b.writes) && a.shares_bytes(b)) return true;
    return false;
  }

  List<Earlier> steps_{};  // since the last barrier of all workers
};

}  // namespace tilewright::internal::proof::detail
