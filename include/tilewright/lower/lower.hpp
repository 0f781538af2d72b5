#pragma once
#include "tilewright/core/list.hpp"
#include "tilewright/lower/barriers.hpp"
#include "tilewright/lower/check_code_loads.hpp"
#include "tilewright/lower/check_transfers.hpp"
#include "tilewright/lower/code_memory.hpp"
#include "tilewright/lower/collective_traffic.hpp"
#include "tilewright/lower/flatten.hpp"
#include "tilewright/lower/fuse.hpp"
#include "tilewright/lower/globals.hpp"
#include "tilewright/lower/loop_inputs.hpp"
#include "tilewright/lower/place.hpp"
#include "tilewright/lower/remote_traffic.hpp"
#include "tilewright/lower/reuse.hpp"
#include "tilewright/lower/tile_memory.hpp"

namespace tilewright {

/// Plans a traced program for a target: dead code is dropped, each graph that is called
/// more than once becomes one body of supersteps, others are inlined, and
/// all memory gets its place. Errors: more transfers in a run than num_host_transfers; a tile's memory is too small.
constexpr Plan lower(Ir& ir, const Target& target) {
  Plan plan;
  check_code_loads(ir);
  if (ir.failed()) return plan;
  plan_globals(ir, plan);
  keep_loop_inputs(ir);
  const LiveCode live = find_live_code(ir);
  List<int> body_of(ir.graphs.size(), -1), bodies;
  for (int graph : live.order) {
    if (live.is_inlined(graph)) continue;
    body_of[graph] = static_cast<int>(bodies.size());
    bodies.push_back(graph);
  }
  plan.bodies.resize(bodies.size());
  ComputeSets compute_sets;
  for (std::size_t i = bodies.size(); i-- > 0;) {  // called graphs first
    BodyDraft draft = flatten(ir, live, body_of, plan, bodies[i]);
    split_reductions(draft, target);
    fuse(draft, target);
    find_internal_storages(draft);
    reuse_dying_inputs(draft);
    plan.bodies[i] = place(draft, target, compute_sets, plan);
    place_barriers(plan, plan.bodies[i]);
  }
  check_transfers(ir, plan);
  const CodeUse code = count_code(plan, target);
  plan.memory.code = code.always;
  plan.memory.loaded_code = code.loaded;
  plan.remote = count_remote_traffic(plan, code, target);
  plan.collectives = count_collective_traffic(plan);
  plan.memory.frame = plan.bodies[0].frame_bytes;
  count_tile_memory(ir, live, compute_sets, target, plan);
  return plan;
}

}  // namespace tilewright
