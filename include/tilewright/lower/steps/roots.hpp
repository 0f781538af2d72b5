#pragma once
// takes: an Ir, its LiveCode
// gives: in the plan, the places of kept tensors
// keeps: the rest of the plan

#include "tilewright/graph/call_site.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/lower/program/dead_code.hpp"

namespace tilewright::internal {

/// Returns whether live ops of the main graph have the context.
constexpr bool has_context(const Ir& ir, const LiveCode& live, ExecutionContext context) {
  const List<Node, NodeId>& nodes = ir.tables.record(GraphId::main).nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (live.nodes[GraphId::main][NodeId(n)] && nodes[NodeId(n)].context == context) return true;
  return false;
}
/// Returns the context of the ops of the main graph that a root runs.
constexpr ExecutionContext context_of(const Plan& plan, BodyId root) {
  if (root == plan.after_upload) return ExecutionContext::WeightsFromHostFragment;
  return root == plan.before_download ? ExecutionContext::WeightsToHostFragment : ExecutionContext::Normal;
}
/// Assigns places beside the variables to tensors that live ops of another context read, directly or through aliases.
constexpr void plan_kept_tensors(const Ir& ir, const LiveCode& live, Plan& plan) {
  const GraphRecord& main = ir.tables.record(GraphId::main);
  List<bool, TensorId> is_kept(main.tensors.size(), false);
  for (std::size_t n = 0; n < main.nodes.size(); ++n) {
    const Node& node = main.nodes[NodeId(n)];
    if (!live.nodes[GraphId::main][NodeId(n)]) continue;
    for (const TensorId input : node.inputs) {
      const TensorId tensor = detail::aliased_tensor(ir, GraphId::main, input).first;
      const TensorRecord& record = main.tensors[tensor];
      if (record.producer == NodeId::none || is_kept[tensor]) continue;
      const ExecutionContext made_in = main.nodes[record.producer].context;
      if (made_in == node.context) continue;
      is_kept[tensor] = true;
      plan.kept.push_back({tensor, made_in, record.spec.bytes(), plan.memory.variables, record.spec.dtype});
      plan.memory.variables += align(record.spec.bytes());
    }
  }
}

}  // namespace tilewright::internal
