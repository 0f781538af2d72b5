#pragma once
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/host/planner.hpp"
#include "tilewright/lower/ipu/planner.hpp"
#include "tilewright/lower/program/checks.hpp"
#include "tilewright/lower/program/code_memory.hpp"
#include "tilewright/lower/program/collective_traffic.hpp"
#include "tilewright/lower/program/globals.hpp"
#include "tilewright/lower/program/remote_traffic.hpp"
#include "tilewright/lower/program/stream_transfers.hpp"
#include "tilewright/transform/prepare.hpp"

namespace tilewright::internal {

/// Returns the planner of a machine that maps nothing to tiles: that of its kind, or the host's.
constexpr const MachinePlanner& planner_for(const Target& target) {
  return target.kind->planner ? *target.kind->planner : host_planner;
}

namespace detail {

/// Creates a body for each graph that is called more than once, and one for each execution context of the main graph.
constexpr void add_bodies(Planning& planning) {
  const Ir& ir = planning.ir;
  Plan& plan = planning.plan;
  planning.body_of.assign(ir.tables.graphs.size(), BodyId::none);
  for (const GraphId graph : planning.live.order) {
    if (planning.live.is_inlined(graph)) continue;
    planning.body_of[graph] = BodyId(planning.bodies.size());
    planning.bodies.push_back(graph);
    if (graph != GraphId::main || !ir.tables.has_contexts) continue;
    const auto add_root = [&](BodyId& root, ExecutionContext context) {
      if (!has_context(ir, planning.live, context)) return;
      root = BodyId(planning.bodies.size());
      planning.bodies.push_back(graph);
    };
    add_root(plan.after_upload, ExecutionContext::WeightsFromHostFragment);
    add_root(plan.before_download, ExecutionContext::WeightsToHostFragment);
    plan_kept_tensors(ir, planning.live, plan);
  }
  plan.bodies.resize(planning.bodies.size());
}

/// Plans all bodies with the passes of a machine, called graphs first, and counts the figures of a run.
template <class Planner>
constexpr void plan_bodies(Planning& planning, Planner planner, auto& observe) {
  Plan& plan = planning.plan;
  for (std::size_t i = planning.bodies.size(); i-- > 0;) {
    const auto body = BodyId(i);
    typename Planner::Draft draft;
    for (const Pass pass : planner.passes) {
      planner.run(pass, body, draft, planning);
      observe(pass, body, draft, plan);
    }
    if (plan.is_root(body)) plan.memory.frame = (std::max)(plan.memory.frame, plan.bodies[body].frame_bytes);
  }
  observe(plan);
  count_transfers(plan);
  const List<CodeUse> code = count_code(plan, planning.target);
  plan.remote = count_remote_traffic(plan, code, planning.target);
  plan.collectives = count_collective_traffic(plan);
  planner.count(code, planning);
}

}  // namespace detail

/// Plans a prepared program for its target. Dead code is dropped. Each graph that is called more than once becomes one body of
/// supersteps; others are inlined. The ops of the main graph become one body for each execution context, and all memory gets its
/// place. Errors: sizes beyond 64 bits; a dtype that the machine does not have; more transfers in a run than num_host_transfers;
/// the machine's memory is too small. With OnError::record, Plan::failure has them and those of the trace and of `prepare`. The
/// observer sees the results of passes: see pass.hpp. `keep_homes` gets the positions of variables and constants on tiles.
template <class Observer = Unobserved>
constexpr Plan lower(const Prepared& prepared, Observer&& observe = Observer(), TileHomes* keep_homes = nullptr) {
  const Ir& ir = prepared.ir();
  const Target& target = prepared.target();
  Plan plan;
  plan.on_error = ir.tables.on_error;
  plan.failure = ir.failure();
  if (ir.failed()) return plan;
  plan_globals(ir, plan);
  const LiveCode live = find_live_code(ir);
  check_sizes(ir, live, plan);
  if (ir.tables.has_placements) check_placements(ir, live, target, plan);
  if (!target.kind->absent.empty()) check_dtypes(ir, live, *target.kind, plan);
  if (!plan.failure.empty()) return plan;
  Planning planning{ir, target, live, plan, {}, {}};
  detail::add_bodies(planning);
  if (target.ipu == nullptr) {  // here the machine chooses its planner
    detail::plan_bodies(planning, planner_for(target), observe);
  } else {
    TileHomes homes;
    detail::plan_bodies(planning, IpuPlanner(planning, keep_homes ? *keep_homes : homes), observe);
  }
  return plan;
}
[[deprecated("since 0.2.0: use lower(prepare(ir, target))")]] constexpr Plan lower(const Ir& ir, const Target& target) {
  return lower(prepare(ir, target));
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::lower;
}  // namespace tilewright
