#pragma once
// takes: a graph
// gives: the graph with one op, a loop of a new graph that has its ops
// keeps: the order of the ops, their scopes and exchanges; the graph's inputs and the number of its outputs

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/move_nodes.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright {

namespace detail {
/// Moves all ops of a graph into a new one, which the graph then repeats.
class GraphRepeater {
 public:
  constexpr explicit GraphRepeater(Graph graph)
      : ir_(graph.ir()),
        graph_(graph.id()),
        values_(ir_.tables.record(graph_).tensors.size()),
        is_changed_(values_.size(), false) {}

  constexpr Graph repeat(std::int64_t count) {
    find_changed_tensors();
    const List<Node, NodeId> nodes = record().nodes;
    const auto sequence = record().sequence;
    List<MergedExchanges> exchanges;
    for (const MergedExchanges& each : ir_.tables.merged_exchanges)
      if (each.graph == graph_) exchanges.push_back(each);
    remove_nodes(ir_, graph_, NodeId(0));
    const GraphId body = ir_.tables.add_graph("repeat_graph");
    {
      const GraphScope scope(ir_.graph(body));
      const PlacementScope anywhere(ir_, {});
      const List<TensorId> inputs = record().inputs, outputs = record().outputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) add_input(inputs[i], has_item(record().by_reference, static_cast<int>(i)));
      const auto value_of = [&](TensorId t) { return value(t); };
      for (const Node& node : nodes) append_copy(ir_, graph_, node, values_, value_of);
      for (const TensorId output : outputs) graph_output(value(output));
      ir_.tables.current().sequence = sequence;
    }
    for (MergedExchanges& each : exchanges) {
      each.graph = body;
      ir_.tables.merged_exchanges.push_back(each);
    }
    const GraphScope scope(ir_.graph(graph_));
    const auto outputs = repeat_with_info(ir_.graph(body), count, parents_).outputs();
    if (ir_.failed()) return ir_.graph(body);
    record().outputs.clear();
    for (const Tensor& output : outputs) record().outputs.push_back(output.number());
    return ir_.graph(body);
  }

 private:
  constexpr GraphRecord& record() { return ir_.tables.record(graph_); }
  constexpr void find_changed_tensors() {
    for (const Node& node : record().nodes) {
      if (node.op->modifies >= 0) is_changed_[viewed_tensor(record(), node.inputs[node.op->modifies])] = true;
      for (const int input : node.modified) is_changed_[viewed_tensor(record(), node.inputs[input])] = true;
    }
  }
  /// Returns the tensor of the new graph for a tensor of the old one.
  constexpr Tensor value(TensorId t) {
    if (values_[t].valid()) return values_[t];
    const TensorRecord outer = record().tensors[t];
    if (outer.kind == TensorKind::constant) return values_[t] = copy_constant(ir_, outer);
    return add_input(t, is_changed_[t]);
  }
  constexpr Tensor add_input(TensorId t, bool by_reference) {
    const TensorRecord outer = record().tensors[t];
    values_[t] = detail::add_graph_input(ir_, outer.spec, outer.name.view(), by_reference, outer.meta_shape);
    ir_.tables.record(values_[t]).placement = outer.placement;
    parents_.push_back({ir_, graph_, t});
    return values_[t];
  }

  Ir& ir_;
  GraphId graph_;
  List<Tensor, TensorId> values_;     // by tensor of the old graph: the tensor of the new one
  List<bool, TensorId> is_changed_;  // by tensor of the old graph: its ops change it in place
  List<Tensor> parents_{};           // by input of the new graph: the tensor of the old one
};
}  // namespace detail

/// Repeats a graph, which may be the main graph: its ops move to a new graph, and a loop calls that graph `repeat_count` times.
/// Returns the new graph, or the given one for a count of 1, which changes nothing. Variables that the ops change are passed by
/// reference, so that changes add up. Streams move `repeat_count` times as often. If the graph has outputs, they replace its
/// first inputs in the next iteration, as for repeat: a call of the graph then gives what a repeat of it gave before. The order
/// of in_sequence scopes and merged exchanges stay. Tensors of the moved ops cannot be used afterwards.
///
/// Errors: a count below 1 (popxl.addons does nothing then); a graph that autodiff has differentiated; ops of the main graph
/// that run at uploads or downloads; outputs that do not fit the inputs.
[[nodiscard]] constexpr Graph repeat_graph(Graph graph, std::int64_t repeat_count) {
  Ir& ir = graph.ir();
  if (ir.failed()) return graph;
  const std::string_view name = graph.id() == GraphId::main ? "the main graph" : graph.name();
  const auto fail = [&](const auto&... problem) {
    ir.fail(text("repeat_graph of ", name, problem..., " expected"));
    return graph;
  };
  if (repeat_count < 1) return fail(": ", repeat_count, " times: at least 1");
  const GraphRecord& record = ir.tables.record(graph.id());
  if (record.is_differentiated) return fail(", which has a gradient graph: repeat_graph before autodiff");
  for (const Node& node : record.nodes)
    if (graph.id() == GraphId::main && node.context != ExecutionContext::Normal)
      return fail(": ", node.op->name, ".", node.id, " of ", to_text(node.context), ": ops of Normal alone");
  if (repeat_count == 1) return graph;
  return detail::GraphRepeater(graph).repeat(repeat_count);
}

}  // namespace tilewright
