#pragma once
#include <algorithm>
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/op_order.hpp"

namespace tilewright {

namespace detail {

/// Returns characters as a quoted label of the DOT language, in which `\` and `&` are escapes.
constexpr Text dot_escaped(std::string_view characters) {
  Text result;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const std::string_view character = characters.substr(i, 1);
    if (character == "\n") result += "\\n";
    else if (character == "&") result += "&amp;";
    else if (character == "\"" || character == "\\") result += text("\\", character);
    else result += character;
  }
  return result;
}

/// Writes graphs in the DOT language. Each graph is a cluster with nodes for its ops, inputs, variables and constants.
class DotWriter {
 public:
  constexpr explicit DotWriter(const Ir& ir) : ir_(ir), written_(ir.tables.graphs.size(), false) {}

  /// Writes a graph that is not written yet, and the graphs that it calls.
  constexpr void write(GraphId graph) {
    if (std::exchange(written_[graph], true)) return;
    write_cluster(graph);
    for (const Node& node : ir_.tables.record(graph).nodes) for_each_callee(node, [this](GraphId called, int) { write(called); });
  }
  constexpr Text finish() const {
    return text("digraph {\n  compound=true\n  node [fontname=\"Helvetica\" fontsize=10]\n",
                "  edge [fontname=\"Helvetica\" fontsize=8]\n", clusters_, calls_, "}\n");
  }

 private:
  /// Returns the node of an op. Loads and stores of one exchange share the node of the first.
  constexpr Text op_node(GraphId graph, NodeId index) const {
    const NodeId drawn = drawn_as_.empty() ? index : drawn_as_[index];
    return text("g", graph, "_op", drawn);
  }
  static constexpr Text tensor_node(GraphId graph, TensorId tensor) { return text("g", graph, "_t", tensor); }

  constexpr Text title(GraphId graph) const {
    if (graph == GraphId::main) return "main graph";
    return dot_escaped(ir_.tables.record(graph).name.view());
  }
  constexpr void write_cluster(GraphId graph) {
    const GraphRecord& record = ir_.tables.record(graph);
    // arrows of calls end at the invisible node: DOT's edges join nodes, and are cut off at the cluster
    clusters_ += text("  subgraph cluster_", graph, " {\n    label=\"", title(graph), "\"\n    g", graph,
                      " [style=invis shape=point]\n");
    for (std::size_t t = 0; t < record.tensors.size(); ++t) write_source(graph, TensorId(t));
    find_exchanges(graph);
    for_each_op(ir_, graph, [&](std::span<const NodeId> nodes) {
      if (nodes.size() == 1) write_op(graph, nodes[0], record.nodes[nodes[0]]);
      else write_op(graph, nodes[0], as_multi_exchange(record, nodes));
    });
    for (std::size_t i = 0; i < record.outputs.size(); ++i) {
      const Text output = text("g", graph, "_out", i);
      clusters_ += text("    ", output, " [label=\"output ", i, "\" shape=house style=filled fillcolor=lightblue]\n");
      write_edge(graph, record.outputs[i], output, "");
    }
    for (const auto& [before, after] : record.sequence)
      clusters_ += text("    ", op_node(graph, before), " -> ", op_node(graph, after), " [style=dotted constraint=false]\n");
    clusters_ += "  }\n";
  }
  constexpr void find_exchanges(GraphId graph) {
    drawn_as_.clear();
    if (ir_.tables.merged_exchanges.empty()) return;
    drawn_as_.assign(ir_.tables.record(graph).nodes.size(), NodeId::none);
    for_each_op(ir_, graph, [&](std::span<const NodeId> nodes) {
      for (const NodeId node : nodes) drawn_as_[node] = nodes[0];
    });
  }
  /// Writes an input, variable or constant.
  constexpr void write_source(GraphId graph, TensorId tensor) {
    const TensorRecord& record = ir_.tables.record(graph).tensors[tensor];
    std::string_view look;
    Text label = dot_escaped(record.name.view());
    switch (record.kind) {
      case TensorKind::intermediate: return;
      case TensorKind::input: {
        const auto& inputs = ir_.tables.record(graph).inputs;
        if (!label.empty()) label += "\\n";
        label += text("input ", std::find(inputs.begin(), inputs.end(), tensor) - inputs.begin());
        look = "shape=invhouse style=filled fillcolor=lightblue";
        break;
      }
      case TensorKind::variable: look = "shape=cylinder style=filled fillcolor=lightyellow"; break;
      case TensorKind::remote: {
        const VariableRecord& variable = ir_.tables.variables[record.payload];
        label += text("\\nremote buffer ", variable.remote_buffer + 1, ", row ", variable.row);
        look = "shape=cylinder style=filled fillcolor=orange";
        break;
      }
      case TensorKind::constant:
        if (label.empty()) label = "constant";
        look = "shape=note style=filled fillcolor=lightgrey";
        break;
    }
    clusters_ += text("    ", tensor_node(graph, tensor), " [label=\"", label, "\\n", to_text(record.spec), "\" ", look, "]\n");
  }
  constexpr void write_op(GraphId graph, NodeId index, const Node& node) {
    const Text name = op_node(graph, index);
    clusters_ += text("    ", name, " [label=\"", dot_escaped(node.op->name), ".", node.id);
    if (node.scope >= 0) {
      const std::string_view prefix = ir_.tables.name_scopes[node.scope].view();
      clusters_ += text("\\n", dot_escaped(prefix.substr(0, prefix.size() - 1)));
    }
    clusters_ += "\" shape=box]\n";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int input = static_cast<int>(i);
      const bool changes = input == node.op->modifies || has_item(node.modified, input);
      std::string_view look;
      if (changes) look = " color=red";
      write_edge(graph, node.inputs[i], name, look);
    }
    if (node.called_graph != GraphId::none)
      write_call(name, node.called_graph, node.else_graph != GraphId::none ? " label=\"true\"" : "");
    if (node.else_graph != GraphId::none) write_call(name, node.else_graph, " label=\"false\"");
  }
  constexpr void write_call(const Text& caller, GraphId graph, std::string_view look) {
    calls_ += text("  ", caller, " -> g", graph, " [lhead=cluster_", graph, " style=dashed", look, "]\n");
  }
  /// Writes an edge from the producer of a tensor to a node that reads it.
  constexpr void write_edge(GraphId graph, TensorId tensor, const Text& to, std::string_view look) {
    const TensorRecord& record = ir_.tables.record(graph).tensors[tensor];
    Text from, label = to_text(record.spec);
    if (record.producer != NodeId::none) {
      from = op_node(graph, record.producer);
      if (!record.name.empty()) label = text(dot_escaped(record.name.view()), "\\n", label);
    } else {
      from = tensor_node(graph, tensor);
    }
    clusters_ += text("    ", from, " -> ", to, " [label=\"", label, "\"", look, "]\n");
  }

  const Ir& ir_;
  List<bool, GraphId> written_;
  List<NodeId, NodeId> drawn_as_{};  // of the graph that is being written; empty: all are themselves
  Text clusters_{}, calls_{};
};
}  // namespace detail

/// Returns a graph and all graphs below it in Graphviz's DOT language. Each graph is a cluster, and dashed arrows lead to it from
/// its calls; arrows of a conditional have its condition as label. Ops are boxes with their type, number and name scope. Tensors
/// are edges with their name, shape and dtype, red if the op changes them in place. Inputs and outputs are blue houses, constants
/// grey notes, variables yellow cylinders, or orange ones in remote buffers. Dotted arrows are the order of in_sequence.
constexpr Text to_dot(Graph graph) {
  detail::DotWriter writer(graph.ir());
  writer.write(graph.id());
  return writer.finish();
}
/// Returns all graphs of an Ir in the DOT language.
constexpr Text to_dot(const Ir& ir) {
  detail::DotWriter writer(ir);
  for (std::size_t graph = 0; graph < ir.tables.graphs.size(); ++graph) writer.write(GraphId(graph));
  return writer.finish();
}

}  // namespace tilewright
