#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {
/// Assigns remote buffers their places in streaming memory.
constexpr void plan_remote_buffers(const Ir& ir, Plan& plan) {
  plan.remote_buffers.reserve(ir.tables.remote_buffers.size());
  for (const RemoteBufferRecord& buffer : ir.tables.remote_buffers) {
    const bool is_mapped = buffer.mapping > 0;
    plan.remote_buffers.push_back({{.spec = buffer.spec,
                                    .entries = buffer.entries,
                                    .offset = is_mapped ? 0 : plan.memory.remote,
                                    .mapping = buffer.mapping},
                                   buffer.name});
    if (!is_mapped) plan.memory.remote += plan.remote_buffers.back().bytes();
  }
}
constexpr void plan_variables(const Ir& ir, Plan& plan) {
  plan.variables.reserve(ir.tables.variables.size());
  for (const VariableRecord& variable : ir.tables.variables) {
    const TensorRecord& tensor = ir.tables.record(GraphId::main).tensors[variable.tensor];
    PlannedVariable planned{tensor.spec, tensor.name, variable.initialiser};
    planned.distribution = variable.distribution;
    planned.assignment = variable.assignment;
    if (variable.remote_buffer >= 0) {
      const PlannedRemoteBuffer& buffer = plan.remote_buffers[variable.remote_buffer];
      planned.base = Base::remote;
      planned.offset = buffer.offset + variable.row * buffer.row_bytes();
    } else {
      planned.offset = plan.memory.variables;
      plan.memory.variables += align(tensor.spec.bytes());
    }
    plan.variables.push_back(std::move(planned));
  }
  for (const PlannedRemoteBuffer& buffer : plan.remote_buffers) {
    if (buffer.mapping == 0) continue;
    for (const PlannedVariable& variable : plan.variables)  // a session knows both by their names
      if (variable.name == buffer.name)
        plan.fail(text("mapped_buffer: '", buffer.name, "', which a variable is named: a name of its own expected"));
  }
}
constexpr void plan_constants(const Ir& ir, Plan& plan) {
  for (const ConstantRecord& constant : ir.tables.constants)
    plan.constants.push_back({{}, constant.values, 0, {}, constant.generator});
  for (const GraphRecord& graph : ir.tables.graphs)
    for (const TensorRecord& tensor : graph.tensors) {
      if (tensor.kind != TensorKind::constant) continue;
      PlannedConstant& constant = plan.constants[tensor.payload];
      constant.spec = tensor.spec;
      if (tensor.name.empty()) continue;
      if (graph.name.empty()) constant.name = tensor.name;
      else constant.name = text(graph.name, "/", tensor.name);
    }
  for (PlannedConstant& constant : plan.constants) {
    constant.offset = plan.memory.constants;
    plan.memory.constants += align(constant.spec.bytes());
  }
}
}  // namespace detail

/// Copies data outside of graphs to the plan, with offsets in its memory: remote buffers, variables, constants, streams.
constexpr void plan_globals(const Ir& ir, Plan& plan) {
  detail::plan_remote_buffers(ir, plan);
  detail::plan_variables(ir, plan);
  detail::plan_constants(ir, plan);
  plan.streams.reserve(ir.tables.streams.size());
  for (const StreamRecord& stream : ir.tables.streams) plan.streams.push_back({stream.direction, stream.spec, stream.name});
  plan.num_host_transfers = ir.num_host_transfers();
  plan.replicas = static_cast<int>(ir.replication_factor());
}

}  // namespace tilewright::internal
