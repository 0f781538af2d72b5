#pragma once
// takes: an Ir and its LiveCode
// gives: errors: features that a target does not have; more bytes, or more runs of a graph, than the planner counts
// keeps: both

#include "tilewright/core/span.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/lower/program/dead_code.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {
/// Returns the bytes of all tensors and remote buffers together, as a double, which does not overflow.
constexpr double bytes_of_all_tensors(const Ir& ir) {
  double bytes = 0;
  for (const RemoteBufferRecord& buffer : ir.tables.remote_buffers)
    bytes += static_cast<double>(buffer.entries) * static_cast<double>(align(buffer.spec.bytes()));
  for (const GraphRecord& graph : ir.tables.graphs)
    for (const TensorRecord& tensor : graph.tensors) bytes += static_cast<double>(align(tensor.spec.bytes()));
  return bytes;
}
}  // namespace detail

/// Fails for programs with sums or products beyond 64 bits: more than 2^60 bytes of all tensors together, or a graph that runs
/// more than 2^48 times in a run, by nested loops or calls.
constexpr void check_sizes(const Ir& ir, const LiveCode& live, Plan& plan) {
  std::size_t tensors = ir.tables.remote_buffers.size();
  for (const GraphRecord& graph : ir.tables.graphs) tensors += graph.tensors.size();
  constexpr std::size_t few = 4096;  // of at most 2^47 bytes, a row of a remote buffer being at most 2^6 times as long
  if (tensors >= few)
    if (const double bytes = detail::bytes_of_all_tensors(ir); bytes > 0x1p60)
      plan.fail(text("memory: ", number_text(bytes), " bytes of all tensors together: at most 2^60 expected"));
  for (const GraphId graph : live.order)
    if (live.runs[graph] > most_runs) {
      plan.fail(text("graph '", ir.tables.record(graph).name, "' runs ", number_text(live.runs[graph]),
                     " times in a run: at most 2^48 times expected"));
      return;
    }
}

/// Fails for an op on an IPU, or on IO tiles, that the target does not have. The host runs ops of IO tiles like others.
constexpr void check_placements(const Ir& ir, const LiveCode& live, const Target& target, Plan& plan) {
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.tables.record(graph);
    for (std::size_t n = 0; n < record.nodes.size() && plan.failure.empty(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      const auto fail = [&](const auto&... problem) {
        const bool is_named = !record.name.empty();
        plan.fail(text(node.op->name, ".", node.id, is_named ? " in " : "", record.name, " on ", to_text(node.placement),
                       problem..., " expected"));
      };
      if (!live.nodes[graph][NodeId(n)] || !node.placement.is_known()) continue;
      if (node.placement.ipu >= target.ipus)
        fail(": the target has ", target.ipus, target.ipus == 1 ? " IPU" : " IPUs", " in a replica: Target::with_ipus(",
             node.placement.ipu + 1, ")");
      else if (target.ipu != nullptr && target.io_tiles == 0 && node.placement.tile_set == TileSet::io)  // the host has none
        fail(": the target has no IO tiles: Target::with_io_tiles");
    }
  }
}

namespace detail {
/// Returns the first tensor of one of these dtypes among a node's inputs and results, or none.
constexpr TensorId tensor_of(Span<const DType> dtypes, const GraphRecord& record, const Node& node) {
  for (const auto* tensors : {&node.inputs, &node.outputs})
    for (const TensorId tensor : *tensors)
      for (const DType dtype : dtypes)
        if (record.tensors[tensor].spec.dtype == dtype) return tensor;
  return TensorId::none;
}
}  // namespace detail

/// Fails for an op with a tensor whose dtype the machine does not have.
constexpr void check_dtypes(const Ir& ir, const LiveCode& live, const MachineKind& kind, Plan& plan) {
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.tables.record(graph);
    for (std::size_t n = 0; n < record.nodes.size(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      const TensorId tensor = live.nodes[graph][NodeId(n)] ? detail::tensor_of(kind.absent, record, node) : TensorId::none;
      if (tensor == TensorId::none) continue;
      const TensorSpec& spec = record.tensors[tensor].spec;
      plan.fail(text(node.op->name, ".", node.id, record.name.empty() ? "" : " in ", record.name, ": ", to_text(spec), " on ",
                     kind.name, ", which has no ", to_text(spec.dtype), ": ", kind.instead, " expected"));
      return;
    }
  }
}

}  // namespace tilewright::internal
