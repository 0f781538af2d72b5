#pragma once
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/barriers.hpp"
#include "tilewright/lower/check_transfers.hpp"
#include "tilewright/lower/code_memory.hpp"
#include "tilewright/lower/collective_traffic.hpp"
#include "tilewright/lower/cut.hpp"
#include "tilewright/lower/flatten.hpp"
#include "tilewright/lower/fuse.hpp"
#include "tilewright/lower/internal_storages.hpp"
#include "tilewright/lower/loop_inputs.hpp"
#include "tilewright/lower/pass.hpp"
#include "tilewright/lower/place.hpp"
#include "tilewright/lower/remote_traffic.hpp"
#include "tilewright/lower/reuse.hpp"
#include "tilewright/lower/split_reductions.hpp"

namespace tilewright {

namespace detail {

/// Copies what lives outside of graphs to the plan, with offsets in its memory.
constexpr void plan_globals(const Ir& ir, Plan& plan) {
  plan_remote_buffers(ir, plan);
  plan.variables.reserve(ir.variables.size());
  plan.streams.reserve(ir.streams.size());
  for (const VariableRecord& variable : ir.variables) {
    const TensorRecord& tensor = ir.record(0).tensors[static_cast<std::size_t>(variable.tensor)];
    PlannedVariable planned{tensor.spec, tensor.name, variable.initialiser};
    planned.distribution = variable.distribution;
    planned.assignment = variable.assignment;
    if (variable.remote_buffer >= 0) {
      const PlannedRemoteBuffer& buffer = plan.remote_buffers[static_cast<std::size_t>(variable.remote_buffer)];
      planned.base = Base::remote;
      planned.offset = buffer.offset + variable.row * buffer.row_bytes();
    } else {
      planned.offset = plan.memory.variables;
      plan.memory.variables += align(tensor.spec.bytes());
    }
    make_room(plan.variables);
    plan.variables.push_back(std::move(planned));
  }
  for (const ConstantRecord& constant : ir.constants) plan.constants.push_back({{}, constant.values, 0, {}});
  for (const GraphRecord& graph : ir.graphs)
    for (const TensorRecord& tensor : graph.tensors) {
      if (tensor.kind != TensorKind::constant) continue;
      PlannedConstant& constant = plan.constants[static_cast<std::size_t>(tensor.payload)];
      constant.spec = tensor.spec;
      if (tensor.name.empty()) continue;
      if (graph.name.empty()) constant.name = tensor.name;
      else constant.name = text(graph.name, "/", tensor.name);
    }
  for (PlannedConstant& constant : plan.constants) {
    constant.offset = plan.memory.constants;
    plan.memory.constants += align(constant.spec.bytes());
  }
  for (const StreamRecord& stream : ir.streams) plan.streams.push_back({stream.direction, stream.spec, stream.name});
  plan.num_host_transfers = ir.num_host_transfers();
  plan.replicas = static_cast<int>(ir.replication_factor());
}

/// The three largest tensors of the program, for the error text.
constexpr Text largest_tensors(const Ir& ir, const LiveCode& live) {
  struct Named {
    std::int64_t bytes;
    Text name;
  };
  List<Named> all;
  for (int graph : live.order) {
    const GraphRecord& record = ir.record(graph);
    for (const TensorRecord& tensor : record.tensors) {
      Text name = tensor.name;
      if (name.empty() && tensor.producer >= 0) {
        const Node& node = record.nodes[static_cast<std::size_t>(tensor.producer)];
        name = text(node.op->name, ".", node.id);
      }
      if (tensor.kind != TensorKind::input && tensor.kind != TensorKind::remote)
        all.push_back({tensor.spec.bytes(), text(name, " ", to_text(tensor.spec), " ", tensor.spec.bytes(), " bytes")});
    }
  }
  std::ranges::sort(all, [](const Named& a, const Named& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name; });
  List<Text> names;
  for (std::size_t i = 0; i < all.size() && i < 3; ++i) names.push_back(all[i].name);
  return join(names, ", ");
}

/// Bytes of tile 0, which has a part of everything: tensors are spread evenly over the tiles, the operands of its vertex
/// come together on it, and it has all code.
constexpr std::int64_t fullest_tile(const Plan& plan, const ComputeSets& sets, const Target& target) {
  const auto share = [&](std::int64_t bytes) { return (bytes + target.tiles - 1) / target.tiles; };
  return share(plan.memory.variables) + share(plan.memory.constants) + share(plan.memory.frame) + plan.memory.code +
         plan.memory.loaded_code + sets.largest_vertex();
}

}  // namespace detail

/// Plans a traced program for a target: dead code is dropped, each graph that is called
/// more than once becomes one body of supersteps, others are inlined, and
/// all memory gets its place. Errors: more transfers in a run than num_host_transfers; a tile's memory is too small. The observer
/// sees what passes give: see pass.hpp.
template <class Observer = Unobserved>
constexpr Plan lower(Ir& ir, const Target& target, Observer&& observe = Observer()) {
  Plan plan;
  check_code_loads(ir);
  if (ir.failed()) return plan;
  detail::plan_globals(ir, plan);
  keep_loop_inputs(ir);
  const LiveCode live = find_live_code(ir);
  List<int> body_of(ir.graphs.size(), -1), bodies;
  for (int graph : live.order) {
    if (live.is_inlined(graph)) continue;
    body_of[static_cast<std::size_t>(graph)] = static_cast<int>(bodies.size());
    bodies.push_back(graph);
  }
  plan.bodies.resize(bodies.size());
  ComputeSets compute_sets;
  for (std::size_t i = bodies.size(); i-- > 0;) {  // called graphs first
    const int body = static_cast<int>(i);
    BodyDraft draft = flatten(ir, live, body_of, plan, bodies[i]);
    observe(Pass::flatten, body, draft, plan);
    split_reductions(draft, target);
    observe(Pass::split_reductions, body, draft, plan);
    fuse(draft, target);
    observe(Pass::fuse, body, draft, plan);
    find_internal_storages(draft);
    observe(Pass::find_internal_storages, body, draft, plan);
    cut_groups(draft, target);
    observe(Pass::cut_groups, body, draft, plan);
    reuse_dying_inputs(draft);
    observe(Pass::reuse_dying_inputs, body, draft, plan);
    plan.bodies[i] = place(draft, compute_sets, plan);
    observe(Pass::place, body, draft, plan);
    place_barriers(plan, plan.bodies[i]);
  }
  plan.memory.frame = plan.bodies[0].frame_bytes;
  observe(plan);
  check_transfers(ir, plan);
  const CodeUse code = count_code(plan, target);
  plan.memory.code = code.always;
  plan.memory.loaded_code = code.loaded;
  plan.remote = count_remote_traffic(plan, code, target);
  plan.collectives = count_collective_traffic(plan, target);
  plan.memory.fullest_tile = detail::fullest_tile(plan, compute_sets, target);
  if (target.checks_memory() && plan.memory.fullest_tile > target.bytes_per_tile)
    ir.fail(text("memory: tile 0 of ", target.tiles, " needs ", plan.memory.fullest_tile, " bytes: at most ",
                 target.bytes_per_tile, " expected; largest tensors: ", detail::largest_tensors(ir, live)));
  return plan;
}

}  // namespace tilewright
