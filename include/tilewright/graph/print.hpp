#pragma once

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/op_order.hpp"

namespace tilewright {

namespace detail {
/// Numbers the tensors of a graph from 1 in the order in which they are mentioned.
class ValueNumbers {
 public:
  constexpr explicit ValueNumbers(const GraphRecord& graph) : graph_(graph), numbers_(graph.tensors.size(), 0) {}
  /// Returns "%5".
  constexpr Text operator()(TensorId tensor) {
    int& number = numbers_[tensor];
    if (number == 0) number = ++count_;
    return text("%", number);
  }
  /// Returns "%5 [(2, 32) float32], %6 [...]".
  constexpr Text with_specs(const List<TensorId>& tensors) {
    List<Text> values;
    for (const TensorId tensor : tensors)
      values.push_back(text((*this)(tensor), " [", to_text(graph_.tensors[tensor].spec), "]"));
    return join(values, ", ");
  }

 private:
  const GraphRecord& graph_;
  List<int, TensorId> numbers_;
  int count_ = 0;
};
}  // namespace detail

/// Returns a graph as text, in popxl.addons' format: name, inputs (`name=%2` for those in `input_names`, which maps tensor ids to
/// names) and outputs, then a line for every op. A line has type, number, called graph, inputs and outputs, options that differ
/// from the default, and the IPU or IO tiles on which the op runs if that is not IPU 0. Loads and stores of one exchange are
/// shown as one MultiExchange, with the number of the first.
[[nodiscard]] constexpr Text print_schedule(Graph graph, const List<Pair<TensorId, Text>>& input_names = {}) {
  const GraphRecord& record = graph.ir().tables.record(graph.id());
  detail::ValueNumbers value(record);
  List<Text, TensorId> names(record.tensors.size());
  List<Text> inputs, outputs;
  for (const auto& [tensor, name] : input_names) names[tensor] = text(name, "=");
  for (const TensorId input : record.inputs) inputs.push_back(text(names[input], value(input)));
  Text ops;
  const auto print = [&](const Node& node) {
    ops += text("    ", node.op->name, ".", node.id);
    if (node.called_graph != GraphId::none) ops += text("(", graph.ir().tables.record(node.called_graph).name);
    if (node.else_graph != GraphId::none) ops += text(", ", graph.ir().tables.record(node.else_graph).name);
    if (node.called_graph != GraphId::none) ops += ")";
    ops += text(" (", value.with_specs(node.inputs), ")");
    ops += text(" -> (", value.with_specs(node.outputs), ")");
    if (node.op->options)
      if (const Text options = node.op->options(node.attributes); !options.empty()) ops += text(" {", options, "}");
    if (node.placement.ipu > 0 || node.placement.tile_set == TileSet::io) ops += text(" on ", to_text(node.placement));
    ops += "\n";
  };
  detail::for_each_op(graph.ir(), graph.id(), [&](Span<const NodeId> nodes) {
    if (nodes.size() == 1) print(record.nodes[nodes[0]]);
    else print(detail::as_multi_exchange(record, nodes));
  });
  for (const TensorId output : record.outputs) outputs.push_back(value(output));
  return text("Graph : ", record.name, "\n  (", join(inputs, ", "), ") -> (", join(outputs, ", "), ") {\n", ops, "  }\n");
}

}  // namespace tilewright
