#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/graph/placements.hpp"
#include "tilewright/ops/nn/composed_attention.hpp"

namespace tilewright {

namespace detail {

/// A form that one op can compute: its nodes in a graph, and the last node, which the op replaces.
template <class Form>
struct FoundForm {
  NodeId last{};
  Form form{};
};
template <class Form>
constexpr List<FoundForm<Form>> find_forms(const Ir& ir, GraphId graph, const List<TensorId>& kept) {
  List<FoundForm<Form>> found;
  const GraphRecord& record = ir.tables.record(graph);
  std::optional<FormReader> reader;  // made when it is first needed: most graphs have no such form
  for (std::size_t i = 0; i < record.nodes.size(); ++i) {
    const Node& node = record.nodes[NodeId(i)];
    if (node.called_graph != GraphId::none) found.clear();  // handles of calls know their nodes by number: these may not move
    if (!Form::may_end(record, node)) continue;
    if (!reader) reader.emplace(ir, graph, kept);
    if (Form form; form.find(*reader, node)) found.push_back({NodeId(i), form});
  }
  return found;
}

/// Puts the ops before the last nodes of their forms and lets them take over the results. All nodes of a form remain as dead
/// code, so that handles of their tensors stay valid.
template <class Form>
constexpr void put_ops(Ir& ir, GraphId graph, const List<FoundForm<Form>>& found) {
  if (found.empty()) return;
  const GraphScope scope(ir.graph(graph));
  const auto record = [&]() -> GraphRecord& { return ir.tables.record(graph); };
  const List<Node, NodeId> nodes = std::exchange(record().nodes, {});
  List<NodeId, NodeId> moved;  // by node: its new number; calls keep theirs
  moved.resize(nodes.size());
  const auto append = [&](Node node, std::size_t number) {
    moved[NodeId(number)] = NodeId(record().nodes.size());
    for (const TensorId output : node.outputs) record().tensors[output].producer = moved[NodeId(number)];
    record().nodes.push_back(std::move(node));
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[NodeId(i)];
    if (next < found.size() && found[next].last == NodeId(i)) {
      const PlacementScope placement(ir, node.placement);
      const int scope_outside = std::exchange(ir.tables.current_scope, node.scope);
      const Tensor result = found[next++].form.apply(ir);
      ir.tables.current_scope = scope_outside;
      if (!result.valid()) return;
      const NodeId op = record().tensors[result.number()].producer;
      std::swap(record().nodes[op].outputs[0], node.outputs[0]);
      record().tensors[record().nodes[op].outputs[0]].producer = op;
    }
    append(std::move(node), i);
  }
  follow_moved_nodes(ir, graph, moved);
}

}  // namespace detail

/// Replaces composed forms, each of several ops, by one op with the same result: attention composed of matmul, softmax and matmul
/// becomes scaled_dot_product_attention, see docs/how-to/attention.md. `kept`: tensors of the graph with users other than the
/// graph's ops and outputs. A form stays if another op needs one of its inner tensors, if one of them has a name, or if a call
/// follows it in the same graph.
///
/// autodiff calls the function for each graph, and prepare() for the remaining ones, unless replaces_composed_forms(ir, false)
/// was called. Results change by rounding only, with one exception: for a query that sees no key, because all scores of its
/// softmax are -infinity, the composed form gives NaN and the op 0. Dropout drops the same weights.
constexpr void replace_composed_forms(Ir& ir, GraphId graph, const List<TensorId>& kept = {}) {
  if (!ir.tables.rewrites.replaces_composed_forms || !detail::may_move_nodes(ir, graph)) return;
  detail::put_ops(ir, graph, detail::find_forms<detail::ComposedAttention>(ir, graph, kept));
}
/// Sets whether graphs that are differentiated or prepared later are searched for composed forms. The default is true for the
/// host. It is false for a simulated IPU, whose unit for products computes composed forms faster.
constexpr void replaces_composed_forms(Ir& ir, bool replaces) { ir.tables.rewrites.replaces_composed_forms = replaces; }

}  // namespace tilewright
