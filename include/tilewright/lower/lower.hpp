#pragma once
#include <algorithm>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/argument_links.hpp"
#include "tilewright/lower/barriers.hpp"
#include "tilewright/lower/check_dtypes.hpp"
#include "tilewright/lower/check_placements.hpp"
#include "tilewright/lower/check_sizes.hpp"
#include "tilewright/lower/check_transfers.hpp"
#include "tilewright/lower/code_memory.hpp"
#include "tilewright/lower/collective_traffic.hpp"
#include "tilewright/lower/cut.hpp"
#include "tilewright/lower/flatten.hpp"
#include "tilewright/lower/fuse.hpp"
#include "tilewright/lower/globals.hpp"
#include "tilewright/lower/internal_storages.hpp"
#include "tilewright/lower/map_tiles.hpp"
#include "tilewright/lower/order_updates.hpp"
#include "tilewright/lower/pass.hpp"
#include "tilewright/lower/place.hpp"
#include "tilewright/lower/place_tiles.hpp"
#include "tilewright/lower/remote_traffic.hpp"
#include "tilewright/lower/reuse.hpp"
#include "tilewright/lower/roots.hpp"
#include "tilewright/lower/run_cycles.hpp"
#include "tilewright/lower/split_reductions.hpp"
#include "tilewright/lower/step_cycles.hpp"
#include "tilewright/lower/tile_exchange.hpp"
#include "tilewright/lower/tile_memory.hpp"
#include "tilewright/lower/tile_sets.hpp"
#include "tilewright/lower/tile_table.hpp"
#include "tilewright/lower/write_as_read.hpp"
#include "tilewright/lower/write_through.hpp"
#include "tilewright/transform/prepare.hpp"

namespace tilewright::internal {

/// Plans a prepared program for its target: dead code is dropped, each graph that is called
/// more than once becomes one body of supersteps, others are inlined, the ops of the main graph become one body for each
/// execution context, and all memory gets its place. Errors: sizes beyond 64 bits; bfloat16 on a
/// simulated IPU; more transfers in a run than num_host_transfers; a tile's memory is too small. With OnError::record they are in
/// Plan::failure, as are those of the trace and of `prepare`. The observer sees what passes
/// give: see pass.hpp. `keep_homes` gets where variables and constants are on tiles.
template <class Observer = Unobserved>
constexpr Plan lower(const Prepared& prepared, Observer&& observe = Observer(), TileHomes* keep_homes = nullptr) {
  const Ir& ir = prepared.ir();
  const Target& target = prepared.target();
  Plan plan;
  plan.on_error = ir.on_error();
  plan.failure = ir.failure();
  if (ir.failed()) return plan;
  plan_globals(ir, plan);
  const LiveCode live = find_live_code(ir);
  check_sizes(ir, live, plan);
  if (ir.has_placements) check_placements(ir, live, target, plan);
  if (target.ipu != nullptr) check_dtypes(ir, live, plan);
  if (!plan.failure.empty()) return plan;
  List<BodyId, GraphId> body_of(ir.graphs.size(), BodyId::none);  // none: the graph is dead or inlined
  List<GraphId, BodyId> bodies;  // the graph of each
  for (const GraphId graph : live.order) {
    if (live.is_inlined(graph)) continue;
    body_of[graph] = BodyId(bodies.size());
    bodies.push_back(graph);
    if (graph != GraphId::main || !ir.has_contexts) continue;
    const auto add_root = [&](BodyId& root, ExecutionContext context) {
      if (!has_context(ir, live, context)) return;
      root = BodyId(bodies.size());
      bodies.push_back(graph);
    };
    add_root(plan.after_upload, ExecutionContext::WeightsFromHostFragment);
    add_root(plan.before_download, ExecutionContext::WeightsToHostFragment);
    plan_kept_tensors(ir, live, plan);
  }
  plan.bodies.resize(bodies.size());
  ComputeSets compute_sets;
  const TileSets sets(target);
  const Target computing = target.without_io_tiles();
  TileHomes homes;
  if (target.ipu != nullptr) {
    for (int set = 0; set < sets.size(); ++set) plan.tile_sets.push_back({sets.ipu(set), sets.is_io(set)});
    homes = make_homes(plan, sets);
    link_gradients(ir, body_of, homes);
    write_tile_sets(sets, plan);
  }
  ProductPartitions partitions(target.ipu ? product_machine(computing) : ProductMachine{});
  for (std::size_t i = bodies.size(); i-- > 0;) {  // called graphs first
    const auto body = BodyId(i);
    BodyDraft draft = flatten(ir, live, body_of, plan, bodies[body], context_of(plan, body), target, partitions);
    observe(Pass::flatten, body, draft, plan);
    if (target.fuses && target.ipu == nullptr) {
      write_through(draft);
      observe(Pass::write_through, body, draft, plan);
      write_as_read(draft);
      observe(Pass::write_as_read, body, draft, plan);
    }
    order_updates(draft);
    observe(Pass::order_updates, body, draft, plan);
    split_reductions(draft, computing, partitions);
    observe(Pass::split_reductions, body, draft, plan);
    fuse(draft, computing);
    observe(Pass::fuse, body, draft, plan);
    find_internal_storages(draft);
    observe(Pass::find_internal_storages, body, draft, plan);
    cut_groups(draft, target);
    observe(Pass::cut_groups, body, draft, plan);
    reuse_dying_inputs(draft);
    observe(Pass::reuse_dying_inputs, body, draft, plan);
    if (target.ipu != nullptr) {
      map_tiles(draft, target, homes, body);
      observe(Pass::map_tiles, body, draft, plan);
      place_tiles(draft, target, homes, body);
      observe(Pass::place_tiles, body, draft, plan);
      count_moves(draft, homes, target, plan);
      count_step_cycles(draft, target, plan);
    }
    plan.bodies[body] = place(ir, draft, body, target, compute_sets, plan);
    if (target.ipu != nullptr) write_tiles(draft, homes, body, plan);
    observe(Pass::place, body, draft, plan);
    place_barriers(plan, body);
    if (plan.is_root(body)) plan.memory.frame = std::max(plan.memory.frame, plan.bodies[body].frame_bytes);
  }
  observe(plan);
  check_transfers(plan);
  const List<CodeUse> code = count_code(plan, target);
  plan.remote = count_remote_traffic(plan, code, target);
  plan.collectives = count_collective_traffic(plan);
  if (target.ipu != nullptr) {
    count_run_cycles(sets, plan);
    count_tile_memory(ir, code, homes, target, plan);
    write_homes(ir, homes, plan);
  } else {
    count_even_memory(ir, live, code[0], compute_sets, target, plan);
  }
  if (keep_homes != nullptr) *keep_homes = std::move(homes);
  return plan;
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::lower;
}  // namespace tilewright
