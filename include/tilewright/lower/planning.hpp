#pragma once
#include <stdexcept>

#include "tilewright/lower/memory/cut.hpp"
#include "tilewright/lower/memory/internal_storages.hpp"
#include "tilewright/lower/memory/place.hpp"
#include "tilewright/lower/memory/planned_program.hpp"
#include "tilewright/lower/memory/reuse.hpp"
#include "tilewright/lower/pass.hpp"
#include "tilewright/lower/steps/barriers.hpp"
#include "tilewright/lower/steps/order_updates.hpp"

namespace tilewright::internal {

/// Runs a pass that is equal for all machines.
constexpr void run_shared(Pass pass, BodyId body, BodyDraft& draft, Planning& planning) {
  switch (pass) {
    case Pass::order_updates: return order_updates(draft);
    case Pass::find_internal_storages: return find_internal_storages(draft);
    case Pass::cut_groups: return cut_groups(draft, planning.target);
    case Pass::reuse_dying_inputs: return reuse_dying_inputs(draft);
    case Pass::place:
      planning.plan.bodies[body] = place(planning.ir, draft, body, planning.target, planning.compute_sets, planning.plan);
      return;
    case Pass::place_barriers: return place_barriers(planning.plan, body);
    default: TW_THROW std::logic_error("planner: a pass of one machine");
  }
}

}  // namespace tilewright::internal
