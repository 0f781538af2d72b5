#pragma once
#include "tilewright/lower/host/channels_last.hpp"
#include "tilewright/lower/host/even_memory.hpp"
#include "tilewright/lower/host/write_as_read.hpp"
#include "tilewright/lower/host/write_through.hpp"
#include "tilewright/lower/planning.hpp"
#include "tilewright/lower/steps/flatten.hpp"
#include "tilewright/lower/steps/fuse.hpp"
#include "tilewright/lower/steps/roots.hpp"
#include "tilewright/lower/steps/split_operations.hpp"

namespace tilewright::internal {

/// Plans for the host.
struct HostPlanner {
  /// Passes over each body, in this order.
  static constexpr Pass passes[] = {
      Pass::flatten,       Pass::write_through,      Pass::write_as_read, Pass::put_channels_last,
      Pass::order_updates, Pass::split_operations,   Pass::fuse,          Pass::find_internal_storages,
      Pass::cut_groups,    Pass::reuse_dying_inputs, Pass::place,         Pass::place_barriers,
  };

  static constexpr void run(Pass pass, BodyId body, BodyDraft& draft, Planning& planning) {
    const Target& target = planning.target;
    switch (pass) {
      case Pass::flatten: draft = flatten(planning, body, nullptr); return;
      case Pass::write_through:
        if (target.fuses) write_through(draft);
        return;
      case Pass::write_as_read:
        if (target.fuses) write_as_read(draft);
        return;
      case Pass::put_channels_last:
        if (target.fuses) put_channels_last(draft);
        return;
      case Pass::split_operations: return split_operations(draft, target, nullptr);
      case Pass::fuse: return fuse(draft, target);
      default: run_shared(pass, body, draft, planning);
    }
  }
};
inline constexpr MachinePlanner host_planner{HostPlanner::passes, HostPlanner::run, count_even_memory};

}  // namespace tilewright::internal
