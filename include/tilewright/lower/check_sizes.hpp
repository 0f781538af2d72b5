#pragma once
// takes: an Ir and its LiveCode
// gives: errors: more bytes, or more runs of a graph, than the planner counts
// keeps: both

#include <cstdint>

#include "tilewright/lower/dead_code.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {
/// Bytes of all tensors and remote buffers together. Doubles do not overflow.
constexpr double bytes_of_all_tensors(const Ir& ir) {
  double bytes = 0;
  for (const RemoteBufferRecord& buffer : ir.remote_buffers)
    bytes += static_cast<double>(buffer.entries) * static_cast<double>(align(buffer.spec.bytes()));
  for (const GraphRecord& graph : ir.graphs)
    for (const TensorRecord& tensor : graph.tensors) bytes += static_cast<double>(align(tensor.spec.bytes()));
  return bytes;
}
}  // namespace detail

/// Fails for programs of which a sum or a product would not fit 64 bits: for more than 2^60 bytes of all tensors together, and
/// for a graph that runs more than 2^48 times in a run, by loops in loops or calls of calls.
constexpr void check_sizes(const Ir& ir, const LiveCode& live, Plan& plan) {
  std::size_t tensors = ir.remote_buffers.size();
  for (const GraphRecord& graph : ir.graphs) tensors += graph.tensors.size();
  constexpr std::size_t few = 4096;  // of at most 2^47 bytes, a row of a remote buffer being at most 2^6 times as long
  if (tensors >= few)
    if (const double bytes = detail::bytes_of_all_tensors(ir); bytes > 0x1p60)
      plan.fail(text("memory: ", number_text(bytes), " bytes of all tensors together: at most 2^60 expected"));
  for (const GraphId graph : live.order)
    if (live.runs[graph] > most_runs) {
      plan.fail(text("graph '", ir.record(graph).name, "' runs ", number_text(live.runs[graph]),
                     " times in a run: at most 2^48 times expected"));
      return;
    }
}

}  // namespace tilewright::internal
