#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/graph/placements.hpp"
#include "tilewright/ops/nn/composed_attention.hpp"

namespace tilewright {

namespace detail {

/// A form that one op computes at once: what it finds in a graph, and the node that the op replaces.
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

/// Puts the ops before the last nodes of their forms, whose results they take over. All nodes of a form stay: nothing needs them
/// any more, so that they are dead code, and handles of their tensors mean what they meant.
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

/// Replaces forms of several ops in a graph by one op that computes the same at once: attention that is composed of matmul,
/// softmax and matmul by scaled_dot_product_attention, as docs/layers.md says. `kept`: tensors of the graph that somebody needs
/// besides the graph's ops and outputs. Tensors that more than the form needs, or that have a name, are never replaced, nor are
/// forms before a call in the same graph.
///
/// autodiff calls it for each graph, and prepare() for all that are left, unless replaces_composed_forms(ir, false) was called.
/// Results change by rounding only, but where a query sees no key: if all scores of its softmax are -infinity, the composed form
/// gives NaN, and the op 0. Dropout drops the same weights.
constexpr void replace_composed_forms(Ir& ir, GraphId graph, const List<TensorId>& kept = {}) {
  if (!ir.tables.replaces_composed_forms || !detail::may_move_nodes(ir, graph)) return;
  detail::put_ops(ir, graph, detail::find_forms<detail::ComposedAttention>(ir, graph, kept));
}
/// Whether the graphs that are differentiated or prepared from now on are searched for composed forms. They are, if the program
/// is for the host; not, if it is for a simulated IPU, whose unit for products computes composed forms faster.
constexpr void replaces_composed_forms(Ir& ir, bool replaces) { ir.tables.replaces_composed_forms = replaces; }

}  // namespace tilewright
